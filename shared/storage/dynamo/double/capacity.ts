/**
 * What calls cost, and what a partition takes. A partition is a partition key here: DynamoDB may split one under heat, and puts many
 * cool ones together; neither is promised.
 */

const readUnitBytes = 4096;
const writeUnitBytes = 1024;
export const partitionReadUnits = 3_000;
export const partitionWriteUnits = 1_000;

export const readUnits = (bytes: number, {consistent, transactional}: {consistent: boolean; transactional?: boolean}): number =>
  Math.max(1, Math.ceil(bytes / readUnitBytes)) * (transactional ? 2 : consistent ? 1 : 0.5);

export const writeUnits = (bytes: number, transactional = false): number =>
  Math.max(1, Math.ceil(bytes / writeUnitBytes)) * (transactional ? 2 : 1);

interface Bucket {
  reads: number;
  writes: number;
  at: number;
}

/**
 * Token buckets that hold a second's worth. What goes over is debt: DynamoDB lets the call that empties a bucket through, and no other
 * one until it has filled up again.
 */
export class Partitions {
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** False: throttled. */
  takes(partition: string, kind: 'reads' | 'writes', units: number): boolean {
    const bucket = this.#refilled(partition);
    if (bucket[kind] <= 0) return false;
    bucket[kind] -= units;
    return true;
  }

  has(partition: string, kind: 'reads' | 'writes'): boolean {
    return this.#refilled(partition)[kind] > 0;
  }

  #refilled(partition: string): Bucket {
    const now = this.#now();
    let bucket = this.#buckets.get(partition);
    if (!bucket) {
      bucket = {reads: partitionReadUnits, writes: partitionWriteUnits, at: now};
      this.#buckets.set(partition, bucket);
    }
    const seconds = Math.max(0, now - bucket.at) / 1000;
    bucket.reads = Math.min(partitionReadUnits, bucket.reads + seconds * partitionReadUnits);
    bucket.writes = Math.min(partitionWriteUnits, bucket.writes + seconds * partitionWriteUnits);
    bucket.at = now;
    return bucket;
  }
}

/** One call, as it was answered. */
export interface Metered {
  verb: string;
  readUnits: number;
  writeUnits: number;
  /** The error's name, when it was refused. */
  error?: string;
}
