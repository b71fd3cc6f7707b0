/** The items of a table: partitions of items in the order of their sort keys. No rule of any call is here. */

import type {CreateTableCommandInput} from '@aws-sdk/client-dynamodb';
import {type Item, invalid} from './errors.ts';
import {compareText, itemBytes, numberOf, typeOf, valueBytes} from './values.ts';

export const maxItemBytes = 400 * 1024;
const maxHashBytes = 2048;
const maxRangeBytes = 1024;

/** An item at its place, whether it is there or not. */
export interface Entry {
  id: string;
  hash: string;
  range: string | number;
  item: Item | undefined;
  bytes: number;
  /** What an eventually consistent read may still show, and since when it should not. */
  before: Item | undefined;
  changedAt: number;
  /** The transaction that is being made of it. */
  lockedBy: object | undefined;
}

interface Partition {
  entries: Map<string | number, Entry>;
  /** In order; sorted when somebody asks. */
  sorted: Entry[];
  dirty: boolean;
}

export class Table {
  readonly name: string;
  readonly hashName: string;
  readonly rangeName: string | undefined;
  readonly streams: boolean;
  ttlName: string | undefined;
  readonly #hashType: string;
  readonly #rangeType: string | undefined;
  readonly #partitions = new Map<string, Partition>();

  constructor({TableName, KeySchema = [], AttributeDefinitions = [], StreamSpecification}: CreateTableCommandInput) {
    const typeOfName = (name: string | undefined): string =>
      AttributeDefinitions.find(({AttributeName}) => AttributeName === name)?.AttributeType ?? 'S';
    const nameOf = (kind: string): string | undefined => KeySchema.find(({KeyType}) => KeyType === kind)?.AttributeName;
    this.name = TableName!;
    this.hashName = nameOf('HASH')!;
    this.rangeName = nameOf('RANGE');
    this.streams = StreamSpecification?.StreamEnabled ?? false;
    this.#hashType = typeOfName(this.hashName);
    this.#rangeType = this.rangeName === undefined ? undefined : typeOfName(this.rangeName);
  }

  /** Of a key alone. @throws ValidationException */
  at(key: Item | undefined): Entry {
    if (!key || Object.keys(key).length !== (this.rangeName === undefined ? 1 : 2))
      throw invalid('The provided key element does not match the schema');
    return this.of(key);
  }

  /** Of an item, by its key attributes. */
  of(item: Item): Entry {
    const hash = this.#part(item, this.hashName, this.#hashType, maxHashBytes) as string;
    const range = this.rangeName === undefined ? '' : this.#part(item, this.rangeName, this.#rangeType!, maxRangeBytes);
    const partition = this.#partition(hash);
    let entry = partition.entries.get(range);
    if (!entry) {
      entry = {
        id: `${this.name}\0${hash}\0${range}`,
        hash,
        range,
        item: undefined,
        bytes: 0,
        before: undefined,
        changedAt: Number.NEGATIVE_INFINITY,
        lockedBy: undefined,
      };
      partition.entries.set(range, entry);
      partition.sorted.push(entry);
      partition.dirty = true;
    }
    return entry;
  }

  put(entry: Entry, item: Item | undefined, now: number): void {
    entry.before = entry.item;
    entry.item = item;
    entry.bytes = item ? itemBytes(item) : 0;
    entry.changedAt = now;
  }

  keyOf(item: Item): Item {
    const key: Item = {[this.hashName]: item[this.hashName]!};
    if (this.rangeName !== undefined) key[this.rangeName] = item[this.rangeName]!;
    return key;
  }

  /** The first entry of a partition beyond a sort key, in either direction; those without an item as well. */
  next(hash: string, after: string | number | undefined, forward: boolean): Entry | undefined {
    const partition = this.#partitions.get(hash);
    if (!partition) return undefined;
    const {sorted} = partition;
    if (partition.dirty) {
      sorted.sort((a, b) => compareRanges(a.range, b.range));
      partition.dirty = false;
    }
    if (after === undefined) return forward ? sorted[0] : sorted.at(-1);
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareRanges(sorted[middle]!.range, after);
      if (forward ? order <= 0 : order < 0) low = middle + 1;
      else high = middle;
    }
    return forward ? sorted[low] : sorted[low - 1];
  }

  *entries(): Generator<Entry> {
    for (const partition of this.#partitions.values()) for (const entry of partition.entries.values()) if (entry.item) yield entry;
  }

  rangeOf(item: Item): string | number {
    return this.#part(item, this.rangeName!, this.#rangeType!, maxRangeBytes);
  }

  #part(item: Item, name: string, type: string, maxBytes: number): string | number {
    const value = item[name];
    if (!value) throw invalid('One of the required keys was not given a value');
    if (typeOf(value) !== type) throw invalid('The provided key element does not match the schema');
    if (type === 'N') return numberOf(value.N);
    const bytes = valueBytes(value);
    if (bytes === 0)
      throw invalid(
        `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
      );
    if (bytes > maxBytes)
      throw invalid(`One or more parameter values were invalid: Size of key has exceeded the maximum size limit of ${maxBytes} bytes`);
    return value.S ?? Buffer.from(value.B!).toString('hex');
  }

  #partition(hash: string): Partition {
    let partition = this.#partitions.get(hash);
    if (!partition) {
      partition = {entries: new Map(), sorted: [], dirty: false};
      this.#partitions.set(hash, partition);
    }
    return partition;
  }
}

export const compareRanges = (a: string | number, b: string | number): number =>
  typeof a === 'number' ? a - (b as number) : compareText(a, b as string);
