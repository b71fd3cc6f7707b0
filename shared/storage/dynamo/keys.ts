/**
 * Where everything lies: the names of partitions. The letter tells the kind, so that a policy can grant leading keys per function.
 * What is in the items is told by ./items.ts.
 */

import {isConfiguration} from '../configuration.ts';
import {type Revision, StoreError} from '../contract.ts';

/**
 * A partition takes 1,000 write units a second, a transactional write of a small record two. So runs of consecutive revisions rotate
 * through buckets: short runs, so that a second's writes meet many partitions; not single revisions, so that a short delta is one query.
 */
const runRevisions = 64;
const buckets = 16;

/** The group of the configuration types, the epoch. No type has this name: core types with a sequencer of their own are in no group. */
export const epoch = '~configuration';

export const groupOf = (type: string): string => (isConfiguration(type) ? epoch : type);

export const bucketOf = (revision: Revision): number => Math.floor((revision - 1) / runRevisions) % buckets;

/** The buckets that (from, to] touches, each once. */
export function bucketsOf(from: Revision, to: Revision): number[] {
  const first = Math.floor(from / runRevisions);
  const last = Math.floor((to - 1) / runRevisions);
  return Array.from({length: Math.min(last - first + 1, buckets)}, (_, n) => (first + n) % buckets);
}

export class Keys {
  readonly #cluster: string;

  constructor(cluster: string) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(cluster))
      throw new StoreError('Unavailable', `${JSON.stringify(cluster)} is no name for a cluster: letters, digits, and . _ - between them`);
    this.#cluster = cluster;
  }

  /** Sorted by key. */
  objects(type: string): string {
    return `${this.#cluster}|o|${type}`;
  }

  /** A partition for one item: its limit is the rate of a group. */
  sequencer(group: string): string {
    return `${this.#cluster}|s|${group}`;
  }

  log(group: string, bucket: number): string {
    return `${this.#cluster}|l|${group}|${bucket}`;
  }

  /** One partition for each chunk: a large object is read and written in parallel. */
  chunk(attempt: string, number: number): string {
    return `${this.#cluster}|c|${attempt}|${number}`;
  }

  /** What chunks there are, so that orphans can be found. */
  chunkSets(): string {
    return `${this.#cluster}|c|sets`;
  }

  /** Format version and the types that were ever written. */
  meta(): string {
    return `${this.#cluster}|m|meta`;
  }
}
