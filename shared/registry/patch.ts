/** PATCH of an object: JSON patch, merge patch and strategic merge, each applied to the served form of what is stored. Apply is its own room. */

import {goPrint} from '../apply/go-print.ts';
import {jsonPatch, parseJsonPatchBody} from '../apply/json-patch.ts';
import {mergePatch, parseMergePatch} from '../apply/merge-patch.ts';
import {restoreRefusal} from '../apply/restore.ts';
import {parseStrategicPatch, strategicMerge} from '../apply/strategic-merge.ts';
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
import {matchName, matchNamespace} from './match.ts';
import {respondImage, respondObject, served} from './respond.ts';
import {updateObject} from './update.ts';

export const patch: Handler = async (context) => {
  const {request, resource} = context;
  const representation = negotiate(request.headers, request.query, objectOffer);
  refuseUnknownPatch(request.headers);
  const options = writeOptions('PatchOptions', request.query);
  const patcher = patcherFor(context, options.fieldValidation);
  const warnedBefore = context.warnings.length;
  const written = await updateObject(context, options, (old) => {
    // What an attempt that lost its race warned of is said again by the next one.
    context.warnings.length = warnedBefore;
    const patched = decodePatched(context, patcher.apply(served(resource, old)), options.fieldValidation, patcher);
    matchName(context, patched);
    matchNamespace(context, patched);
    return patched;
  });
  return written.stored
    ? respondImage(context, representation, written.stored.image)
    : respondObject(context, representation, served(resource, written.object));
};

export interface Patcher {
  /** The patched document; must not change the given one. @throws StatusError 400 for a body that is no such patch, 422 where it does not fit */
  apply(current: KubeObject): Json;
  /** What strict decoding objects to in the patch itself. */
  strictErrors(): readonly string[];
  /** What the reference prints of the patch when its result is refused. */
  print(result: Json): string;
  /** Why the result cannot be an object of the type, in words of its own; undefined leaves it to decoding. */
  refusal(result: Json): string | undefined;
}

const mediaTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'];
const empty = new Uint8Array(0);
const printResult = (result: Json): string => JSON.stringify(result);

/** By media type. The body is parsed when it is first applied: an object that is not there is said before a patch that cannot be read. @throws StatusError 415 */
export function patcherFor(context: Pick<RequestContext, 'request' | 'resource'>, fieldValidation: FieldValidation): Patcher {
  const {headers, body = empty} = context.request;
  const mediaType = mediaTypeOf(headers);
  const strict = fieldValidation !== 'Ignore';
  switch (mediaType) {
    case 'application/json-patch+json': {
      const parsed = once(() => parseJsonPatchBody(body, strict));
      return patcher(
        (current) => jsonPatch(current, parsed().operations),
        () => parsed().strictErrors,
      );
    }
    case 'application/merge-patch+json': {
      const parsed = once(() => parseMergePatch(body, strict));
      return patcher(
        (current) => mergePatch(current, parsed().patch),
        () => parsed().strictErrors,
      );
    }
    case 'application/strategic-merge-patch+json': {
      const {group, version, kind} = context.resource;
      const type = typeByKind({group, version, kind});
      if (!type) throw unsupportedMediaType('strategic merge patch is not supported for this type');
      const parsed = once(() => parseStrategicPatch(body));
      return {
        ...patcher(
          (current) => strategicMerge(current as JsonObject, parsed().patch, type),
          () => parsed().strictErrors,
        ),
        print: () => goPrint(parsed().patch),
        refusal: (result) => restoreRefusal(result, type),
      };
    }
    default:
      throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {details: {}});
  }
}

/** What kind of patch it is comes before how it is asked for. @throws StatusError 415 */
export function refuseUnknownPatch(headers: RequestContext['request']['headers']): void {
  const mediaType = mediaTypeOf(headers);
  if (mediaTypes.includes(mediaType)) return;
  if (mediaType.startsWith('application/apply-patch+'))
    throw unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`);
  throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {details: {}});
}

const mediaTypeOf = (headers: RequestContext['request']['headers']): string => (headers['content-type'] ?? '').split(';')[0]!.trim();

const patcher = (apply: (current: Json) => Json, strictErrors: () => readonly string[]): Patcher => ({
  apply: (current) => apply(current as unknown as Json),
  strictErrors,
  print: printResult,
  refusal: () => undefined,
});

function once<T>(make: () => T): () => T {
  let made: {value: T} | undefined;
  return () => {
    made ??= {value: make()};
    return made.value;
  };
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
  const strictErrors: string[] = fieldValidation === 'Ignore' ? [] : [...patcher.strictErrors()];
  let object: KubeObject;
  const named = kindNamed(document, kind);
  if (named) throw invalidPatch(patcher.print(document), named);
  const refusal = patcher.refusal(document);
  if (refusal) throw invalidPatch(patcher.print(document), refusal);
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
