/**
 * Items as DynamoDB keeps them, and as the engine speaks of them. Nothing here calls anybody; ./chunks.ts fetches what did not fit.
 *
 *     object   rev N, at N (ms), then body B or blob S + chunks N; of a tombstone: dead BOOL instead
 *     record   attempt S, at N, ttl N (s), type S, key S, op S (c u d), prev N, body B or blob S + chunks N,
 *              was B (index of what was replaced) or, where needed, old B, or oldBlob S + oldChunks N (its body)
 *     filler   attempt S, at N, ttl N, op f
 */

import type {AttributeValue} from '@aws-sdk/client-dynamodb';
import type {Operation, Revision} from '../contract.ts';

export type Item = Record<string, AttributeValue>;

/** Chunks that hold a body. */
export interface Blob {
  attempt: string;
  chunks: number;
}

export type Body = {bytes: Uint8Array} | {blob: Blob};

export const blobOf = (body: Body): Blob | undefined => ('blob' in body ? body.blob : undefined);

export interface ObjectItem {
  key: string;
  revision: Revision;
  /** By the writer's clock. */
  at: number;
  /** Absent: a tombstone. */
  body?: Body;
}

export interface ChangeRecord {
  revision: Revision;
  attempt: string;
  at: number;
  type: string;
  key: string;
  operation: Operation;
  previousRevision: Revision;
  body: Body;
  /** The body that was replaced, or its index alone, packed as a body without an image. */
  previous?: {body: Body} | {index: Uint8Array};
}

export interface Filler {
  revision: Revision;
  attempt: string;
  at: number;
}

/** What is in a slot of the log. */
export type SlotRecord = ChangeRecord | Filler;

export const isChange = (record: SlotRecord): record is ChangeRecord => 'operation' in record;

const operations: Record<string, Operation> = {c: 'create', u: 'update', d: 'delete'};
const number = (value: AttributeValue | undefined): number => Number(value?.N ?? 0);

const bodyAttributes = (body: Body, names: readonly [bytes: string, blob: string, chunks: string]): Item =>
  'bytes' in body ? {[names[0]]: {B: body.bytes}} : {[names[1]]: {S: body.blob.attempt}, [names[2]]: {N: String(body.blob.chunks)}};

function bodyFrom(item: Item, names: readonly [bytes: string, blob: string, chunks: string]): Body | undefined {
  const bytes = item[names[0]]?.B;
  if (bytes) return {bytes};
  const attempt = item[names[1]]?.S;
  return attempt === undefined ? undefined : {blob: {attempt, chunks: number(item[names[2]])}};
}

const own = ['body', 'blob', 'chunks'] as const;
const replaced = ['old', 'oldBlob', 'oldChunks'] as const;

export const objectItem = (pk: string, {key, revision, at, body}: ObjectItem): Item => ({
  pk: {S: pk},
  sk: {S: key},
  rev: {N: String(revision)},
  at: {N: String(at)},
  ...(body ? bodyAttributes(body, own) : {dead: {BOOL: true}}),
});

export function objectFrom(item: Item): ObjectItem {
  const body = item['dead']?.BOOL ? undefined : bodyFrom(item, own);
  return {key: item['sk']!.S!, revision: number(item['rev']), at: number(item['at']), ...(body && {body})};
}

/** `ttl`: when DynamoDB may forget it, seconds since the epoch. */
export function recordItem(pk: string, record: SlotRecord, ttl: number): Item {
  const item: Item = {
    pk: {S: pk},
    sk: {N: String(record.revision)},
    attempt: {S: record.attempt},
    at: {N: String(record.at)},
    ttl: {N: String(ttl)},
  };
  if (!isChange(record)) return {...item, op: {S: 'f'}};
  const {type, key, operation, previousRevision, body, previous} = record;
  return {
    ...item,
    type: {S: type},
    key: {S: key},
    op: {S: operation[0]!},
    prev: {N: String(previousRevision)},
    ...bodyAttributes(body, own),
    ...(previous && ('index' in previous ? {was: {B: previous.index}} : bodyAttributes(previous.body, replaced))),
  };
}

export function recordFrom(item: Item): SlotRecord {
  const filler: Filler = {revision: number(item['sk']), attempt: item['attempt']!.S!, at: number(item['at'])};
  const operation = operations[item['op']!.S!];
  if (!operation) return filler;
  const body = bodyFrom(item, replaced);
  const index = item['was']?.B;
  return {
    ...filler,
    type: item['type']!.S!,
    key: item['key']!.S!,
    operation,
    previousRevision: number(item['prev']),
    body: bodyFrom(item, own)!,
    ...(body ? {previous: {body}} : index ? {previous: {index}} : {}),
  };
}
