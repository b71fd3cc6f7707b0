/** The body of a writing request as an object in the stored version: decoded, defaulted, converted; unknown fields judged by fieldValidation. */
import {convert} from '../convert/convert.ts';
import {badRequest} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import {bodyFormat} from '../http/negotiate.ts';
import type {FieldValidation} from '../http/write-options.ts';
import {applyDefaults} from '../kinds/defaults.ts';
import {type GroupVersionKind, groupVersion, type KubeObject} from '../object.ts';
import {decode} from '../schema/decode.ts';
import {decodeProtobuf} from '../schema/protobuf/protobuf.ts';
import type {RequestContext} from './context.ts';

const empty = new Uint8Array(0);

/** The decoded body in its own version. @throws StatusError 400, 415 */
export function decodeBody(context: RequestContext, expected: GroupVersionKind, fieldValidation: FieldValidation): KubeObject {
  const {headers, body = empty} = context.request;
  const {format, mediaType} = bodyFormat(headers['content-type']);
  if (format === 'protobuf') return decodeProtobuf(body, {defaults: expected}).object;
  const {object, strictErrors} = decode(body, {
    mediaType: mediaType as 'application/json' | 'application/yaml',
    defaults: expected,
    strict: fieldValidation !== 'Ignore',
  });
  judgeStrictErrors(context, expected, fieldValidation, strictErrors);
  return object;
}

function judgeStrictErrors(
  context: RequestContext,
  expected: GroupVersionKind,
  fieldValidation: FieldValidation,
  strictErrors: readonly string[],
): void {
  if (strictErrors.length === 0) return;
  if (fieldValidation === 'Strict')
    throw badRequest(
      `${expected.kind} in version ${goQuote(expected.version)} cannot be handled as a ${expected.kind}: strict decoding error: ${strictErrors.join(', ')}`,
    );
  context.warnings.push(...strictErrors);
}

/** The body as an object of the request's resource, defaulted, in the stored version. */
export function decodeObject(context: RequestContext, fieldValidation: FieldValidation): KubeObject {
  const {resource} = context;
  const object = decodeBody(context, {group: resource.group, version: resource.version, kind: resource.kind}, fieldValidation);
  applyDefaults(object);
  return toStored(context, object);
}

/** From the version of the request to that of the store. */
export const toStored = ({resource}: Pick<RequestContext, 'resource'>, object: KubeObject): KubeObject =>
  object.apiVersion === groupVersion(resource.storage) ? object : convert(object, resource.storage);
