/** DeleteOptions: from the body or the query of a DELETE, judged in the reference's words. */
import {badRequest} from '../errors.ts';
import {type FieldError, invalid, invalidObject, notSupported} from '../field-errors.ts';
import {decode} from '../schema/decode.ts';
import {decodeProtobuf} from '../schema/protobuf/protobuf.ts';
import {parseInteger} from './list-options.ts';
import type {ApiRequest} from './messages.ts';
import {bodyFormat} from './negotiate.ts';
import {isTrue} from './request-info.ts';
import {dryRunErrors} from './write-options.ts';

export type Propagation = 'Orphan' | 'Background' | 'Foreground';

export interface DeleteOptions {
  dryRun: boolean;
  gracePeriodSeconds?: number;
  propagationPolicy?: Propagation;
  preconditions: {uid?: string; resourceVersion?: string};
}

interface RawOptions {
  dryRun?: string[];
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  orphanDependents?: boolean;
  preconditions?: {uid?: string; resourceVersion?: string};
}

/** @throws StatusError 400, 415, 422 */
export function deleteOptions(request: ApiRequest, groupVersion: {group: string; version: string}): DeleteOptions {
  const raw = request.body && request.body.length > 0 ? fromBody(request, request.body, groupVersion) : fromQuery(request.query);
  const errors: FieldError[] = [];
  if (raw.propagationPolicy !== undefined && raw.orphanDependents !== undefined)
    errors.push(invalid('propagationPolicy', raw.propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'));
  if (raw.propagationPolicy !== undefined && !isPropagation(raw.propagationPolicy))
    errors.push(notSupported('propagationPolicy', raw.propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']));
  errors.push(...dryRunErrors(raw.dryRun ?? []));
  if (errors.length > 0) throw invalidObject({group: 'meta.k8s.io', kind: 'DeleteOptions'}, '', errors);
  const policy = raw.propagationPolicy ?? (raw.orphanDependents === undefined ? undefined : raw.orphanDependents ? 'Orphan' : 'Background');
  return {
    dryRun: (raw.dryRun?.length ?? 0) > 0,
    preconditions: raw.preconditions ?? {},
    ...(raw.gracePeriodSeconds !== undefined && {gracePeriodSeconds: raw.gracePeriodSeconds}),
    ...(policy !== undefined && {propagationPolicy: policy as Propagation}),
  };
}

const isPropagation = (policy: string): policy is Propagation => policy === 'Orphan' || policy === 'Background' || policy === 'Foreground';

/** The kind is accepted under the version of the resource too: old clients send it so. */
function fromBody(request: ApiRequest, body: Uint8Array, groupVersion: {group: string; version: string}): RawOptions {
  const {format, mediaType} = bodyFormat(request.headers['content-type']);
  const defaults = {...groupVersion, kind: 'DeleteOptions'};
  const {object} =
    format === 'protobuf'
      ? decodeProtobuf(body, {defaults})
      : decode(body, {mediaType: mediaType as 'application/json', defaults, strict: false});
  return object as unknown as RawOptions;
}

function fromQuery(query: ApiRequest['query']): RawOptions {
  const raw: RawOptions = {};
  for (const [name, value] of query) {
    if (name === 'dryRun' && value !== '') raw.dryRun = [...(raw.dryRun ?? []), value];
    else if (name === 'gracePeriodSeconds' && value !== '') raw.gracePeriodSeconds = parseInteger(value);
    else if (name === 'propagationPolicy' && value !== '') raw.propagationPolicy = value;
    else if (name === 'orphanDependents' && value !== '') raw.orphanDependents = isTrue(value);
  }
  if (raw.gracePeriodSeconds !== undefined && !Number.isSafeInteger(raw.gracePeriodSeconds))
    throw badRequest('gracePeriodSeconds is out of range');
  return raw;
}
