/**
 * A table's stream, as an event source mapping hands it to a function: shards side by side, late, batches that failed or were cut off
 * once more. Only the records of one partition key are in order; what stands in different shards is in none.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */

import type {AttributeValue} from '@aws-sdk/client-dynamodb';
import type {DynamoDouble, Written} from './double.ts';
import type {Item} from './errors.ts';
import type {Steps} from './steps.ts';

export interface StreamRecord {
  eventID: string;
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  eventVersion: '1.1';
  eventSource: 'aws:dynamodb';
  awsRegion: string;
  dynamodb: {Keys: object; NewImage?: object; SequenceNumber: string; SizeBytes: number; StreamViewType: 'NEW_IMAGE'};
  /** Of what the time to live removed. */
  userIdentity?: {type: 'Service'; principalId: 'dynamodb.amazonaws.com'};
  eventSourceARN: string;
}

/** Gets a batch. What it throws, or names as failed, is handed to it again. */
export type StreamHandler = (event: {Records: StreamRecord[]}) => Promise<{batchItemFailures?: {itemIdentifier: string}[]} | undefined>;

export interface StreamOptions {
  double: DynamoDouble;
  table: string;
  steps: Steps;
  random: () => number;
  handler: StreamHandler;
  shards?: number;
  batchSize?: number;
  /** How late a batch may be. */
  latestMs?: number;
  /** How often a batch comes once more though it was done. */
  doubled?: number;
  /** Which records count; inserts only, say. */
  filter?: (record: StreamRecord) => boolean;
}

interface Shard {
  records: StreamRecord[];
  busy: boolean;
}

export class Stream {
  readonly #options: Required<StreamOptions>;
  readonly #shards: Shard[];
  #sequence = 0;

  constructor(options: StreamOptions) {
    this.#options = {shards: 4, batchSize: 100, latestMs: 2_000, doubled: 0.1, filter: () => true, ...options};
    this.#shards = Array.from({length: this.#options.shards}, () => ({records: [], busy: false}));
    options.double.onWrite((written) => {
      if (written.table === options.table) this.#add(written);
    });
  }

  /** Everything was handed on. */
  get idle(): boolean {
    return this.#shards.every(({records, busy}) => records.length === 0 && !busy);
  }

  #add(written: Written): void {
    // A write that changes nothing is no change.
    if (written.old && written.item && JSON.stringify(written.old) === JSON.stringify(written.item)) return;
    const record = recordOf(written, ++this.#sequence);
    if (!this.#options.filter(record)) return;
    const shard = this.#shards[hashOf(Object.values(written.keys)[0]!) % this.#shards.length]!;
    shard.records.push(record);
    this.#ring(shard);
  }

  #ring(shard: Shard): void {
    if (shard.busy || shard.records.length === 0) return;
    shard.busy = true;
    const {steps, random, latestMs} = this.#options;
    steps.after(random() ** 2 * latestMs, () => void this.#hand(shard));
  }

  async #hand(shard: Shard): Promise<void> {
    const {handler, batchSize, random, doubled} = this.#options;
    const batch = shard.records.slice(0, 1 + Math.floor(random() * batchSize));
    let done = batch.length;
    try {
      const answer = await handler({Records: batch});
      const failed = (answer?.batchItemFailures ?? []).map(({itemIdentifier}) =>
        batch.findIndex(({dynamodb}) => dynamodb.SequenceNumber === itemIdentifier),
      );
      // From the first that failed on; an identifier that is none fails the whole batch.
      if (failed.length > 0) done = Math.max(0, Math.min(...failed));
    } catch {
      done = 0;
    }
    if (random() >= doubled) shard.records.splice(0, done);
    shard.busy = false;
    this.#ring(shard);
  }
}

export function recordOf({table, keys, old, item, expired}: Written, sequence: number): StreamRecord {
  return {
    eventID: `c4ca4238a0b923820dcc509a6f75849b${sequence}`,
    eventName: item ? (old ? 'MODIFY' : 'INSERT') : 'REMOVE',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    dynamodb: {
      Keys: inJson(keys),
      ...(item && {NewImage: inJson(item)}),
      SequenceNumber: String(sequence).padStart(21, '1'),
      SizeBytes: 26,
      StreamViewType: 'NEW_IMAGE',
    },
    ...(expired && {userIdentity: {type: 'Service', principalId: 'dynamodb.amazonaws.com'}}),
    eventSourceARN: `arn:aws:dynamodb:us-east-1:123456789012:table/${table}/stream/2026-01-01T00:00:00.000`,
  };
}

/** Lambda gets bytes in base64. */
const inJson = (item: Item): object =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, value.B ? {B: Buffer.from(value.B).toString('base64')} : value]));

function hashOf({S = '', N = ''}: AttributeValue): number {
  let hash = 17;
  for (const character of S + N) hash = (31 * hash + character.charCodeAt(0)) % 1_000_003;
  return hash;
}
