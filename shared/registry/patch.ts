/** PATCH of an object: JSON patch, merge patch and strategic merge, each applied to the served form of what is stored. Apply is its own room. */

import {goPrint} from '../apply/go-print.ts';
import {jsonPatch, parseJsonPatch} from '../apply/json-patch.ts';
import {mergePatch, parsePatchObject} from '../apply/merge-patch.ts';
import {strategicMerge} from '../apply/strategic-merge.ts';
import {failure, unsupportedMediaType} from '../errors.ts';
import {goQuote, invalid, invalidObject} from '../field-errors.ts';
import {negotiate, objectOffer} from '../http/negotiate.ts';
import {type FieldValidation, writeOptions} from '../http/write-options.ts';
import {applyDefaults} from '../kinds/defaults.ts';
import {type GroupVersionKind, groupVersion, type Json, type JsonObject, type KubeObject, parseGroupVersion} from '../object.ts';
import {normalize} from '../schema/decode.ts';
import {typeByKind} from '../schema/types.ts';
import {toStored} from './body.ts';
import type {Handler, RequestContext} from './context.ts';
import {matchNamespace} from './create.ts';
import {respondImage, respondObject, served} from './respond.ts';
import {matchName, updateObject} from './update.ts';

export const patch: Handler = async (context) => {
  const {request, resource} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  const apply = patcherFor(context);
  const options = writeOptions('PatchOptions', request.query);
  const written = await updateObject(context, options, (old) => {
    context.warnings.length = 0;
    const patched = decodePatched(context, apply(served(resource, old)), options.fieldValidation, apply);
    matchName(context, patched);
    matchNamespace(context, patched);
    return patched;
  });
  return written.stored
    ? respondImage(context, representation, written.stored.image)
    : respondObject(context, representation, served(resource, written.object));
};

export interface Patcher {
  /** The patched document; must not change the given one. */
  (current: KubeObject): Json;
  /** What the reference prints of the patch when its result is refused. */
  print(result: Json): string;
}

const mediaTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'];
const empty = new Uint8Array(0);

/** Parses the body by its media type, before anything is read. @throws StatusError 400, 415 */
export function patcherFor(context: Pick<RequestContext, 'request' | 'resource'>): Patcher {
  const {headers, body = empty} = context.request;
  const mediaType = (headers['content-type'] ?? '').split(';')[0]!.trim();
  const {group, version, kind} = context.resource;
  switch (mediaType) {
    case 'application/json-patch+json': {
      const operations = parseJsonPatch(body);
      return Object.assign((current: KubeObject) => jsonPatch(current as unknown as Json, operations), {
        print: (result: Json) => JSON.stringify(result),
      });
    }
    case 'application/merge-patch+json': {
      const document = parsePatchObject(body);
      return Object.assign((current: KubeObject) => mergePatch(current as unknown as Json, document), {
        print: (result: Json) => JSON.stringify(result),
      });
    }
    case 'application/strategic-merge-patch+json': {
      const document = parsePatchObject(body);
      const type = typeByKind({group, version, kind});
      if (!type) throw unsupportedMediaType('strategic merge patch is not supported for this type');
      return Object.assign((current: KubeObject) => strategicMerge(current as unknown as JsonObject, document as JsonObject, type), {
        print: () => goPrint(document),
      });
    }
    case 'application/apply-patch+yaml':
    case 'application/apply-patch+cbor':
      throw unsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
      );
    default:
      throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {details: {}});
  }
}

/** The patched document as an object in the stored version. @throws StatusError 422 when it is no longer one */
export function decodePatched(context: RequestContext, document: Json, fieldValidation: FieldValidation, patcher: Patcher): KubeObject {
  const {group, version, kind} = context.resource;
  return toStored(context, decodePatchedAs(context, {group, version, kind}, document, fieldValidation, patcher));
}

/** The patched document as a defaulted object of this kind. @throws StatusError 422 when it is no longer one */
export function decodePatchedAs(
  context: RequestContext,
  kind: GroupVersionKind,
  document: Json,
  fieldValidation: FieldValidation,
  patcher: Patcher,
): KubeObject {
  const strictErrors: string[] = [];
  let object: KubeObject;
  const named = kindNamed(document, kind);
  if (named) throw invalidPatch(patcher.print(document), named);
  try {
    object = normalize(document, kind, fieldValidation === 'Ignore' ? {} : {strictErrors});
  } catch (error) {
    throw invalidPatch(patcher.print(document), error instanceof Error ? error.message : String(error));
  }
  if (strictErrors.length > 0) {
    if (fieldValidation === 'Strict') throw invalidPatch(patcher.print(document), `strict decoding error: ${strictErrors.join(', ')}`);
    context.warnings.push(...strictErrors);
  }
  applyDefaults(object);
  return object;
}

/** What is wrong with the kind that a patch made of the object; undefined when it stayed what it was. */
function kindNamed(document: Json, expected: GroupVersionKind): string | undefined {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined;
  const apiVersion = document['apiVersion'] ?? groupVersion(expected);
  const kind = document['kind'] ?? expected.kind;
  if (apiVersion === groupVersion(expected) && kind === expected.kind) return undefined;
  const gv = typeof apiVersion === 'string' ? parseGroupVersion(apiVersion) : undefined;
  const type = gv && typeof kind === 'string' ? typeByKind({...gv, kind}) : undefined;
  if (!type)
    return `no kind ${goQuote(String(kind))} is registered for version ${goQuote(String(apiVersion))} in scheme "pkg/runtime/scheme.go:111"`;
  return `converting (${type.goName}) to (${expected.group === '' ? 'core' : expected.group.split('.')[0]}.${expected.kind}): unknown conversion`;
}

const invalidPatch = (printed: string, why: string) => invalidObject({group: '', kind: ''}, '', [invalid('patch', printed, why)]);
