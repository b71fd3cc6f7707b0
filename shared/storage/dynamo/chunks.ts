/**
 * Bodies that do not fit into an item: immutable chunks under the attempt that wrote them, one partition each; object and record hold
 * pointers. Each set is written down before its first chunk, so that sets to which nothing points any more are found and removed.
 */

import {type Change, type Stored, StoreError} from '../contract.ts';
import {type Content, pack, unpack} from './body.ts';
import {type Blob, type Body, type ChangeRecord, type Item, isChange, type ObjectItem, objectFrom, type SlotRecord} from './items.ts';
import type {Known} from './known.ts';
import {getAll, type Place} from './place.ts';
import type {Deadline} from './retry.ts';

/**
 * Over this a body goes into chunks though an item takes 400 KB: in the transaction each KB costs twice two write units, of two
 * partitions that take a thousand a second; in chunks one.
 */
const inlineBytes = 48 * 1024;
const chunkBytes = 380 * 1024;

export class Bodies {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The bytes of a body, or where they were put. `owner`: the object whose body it is. */
  async put(content: Content, attempt: string, owner: {type: string; key: string}, deadline: Deadline): Promise<Body> {
    const bytes = pack(content, this.#place.transform);
    if (bytes.length <= inlineBytes) return {bytes};
    const {calls, keys, tables, patience} = this.#place;
    const chunks = Math.ceil(bytes.length / chunkBytes);
    const set = {
      pk: {S: keys.chunkSets()},
      sk: {S: attempt},
      type: {S: owner.type},
      key: {S: owner.key},
      chunks: {N: String(chunks)},
      at: {N: String(patience.clock.now())},
    };
    await patience.repeat(deadline, () => calls.putItem({TableName: tables.objects, Item: set}));
    const pieces = Array.from({length: chunks}, (_, n) => bytes.subarray(n * chunkBytes, (n + 1) * chunkBytes));
    const puts = pieces.map((piece, n) => ({PutRequest: {Item: {pk: {S: keys.chunk(attempt, n)}, sk: {S: 'c'}, bytes: {B: piece}}}}));
    await this.#writeAll(puts, deadline);
    return {blob: {attempt, chunks}};
  }

  /** A body that was put before, for a record that tells what it replaced: its chunks serve both. */
  async again({stored, blob}: Known, attempt: string, owner: {type: string; key: string}, deadline: Deadline): Promise<Body> {
    return blob ? {blob} : this.put(stored, attempt, owner, deadline);
  }

  /** Without a call where the body is in the item. */
  open(body: Body, deadline: Deadline): Content | Promise<Content> {
    return 'bytes' in body ? unpack(body.bytes, this.#place.transform) : this.#fetch(body.blob, deadline);
  }

  index(bytes: Uint8Array): Content['index'] {
    return unpack(bytes, this.#place.transform).index;
  }

  /** A body without an image; nothing when that alone would not fit. */
  packIndex(index: Content['index']): Uint8Array | undefined {
    const bytes = pack({image: new Uint8Array(), index}, this.#place.transform);
    return bytes.length <= inlineBytes ? bytes : undefined;
  }

  async stored({key, revision, body}: {key: string; revision: number; body: Body}, deadline: Deadline): Promise<Stored> {
    const opened = this.open(body, deadline);
    const {image, index} = opened instanceof Promise ? await opened : opened;
    return {key, revision, image, index};
  }

  /**
   * An object of which the item was just read. Chunks of one that was replaced long ago may be gone; that cannot be what was just read.
   */
  async storedFrom(item: Item | undefined, deadline: Deadline): Promise<{object: ObjectItem; stored?: Stored} | undefined> {
    if (!item) return undefined;
    const object = objectFrom(item);
    return object.body ? {object, stored: await this.stored({...object, body: object.body}, deadline)} : {object};
  }

  async change(record: ChangeRecord, deadline: Deadline): Promise<Change> {
    const {operation, previousRevision, at, previous} = record;
    const change: Change = {...(await this.stored(record, deadline)), operation, previousRevision, time: at};
    if (!previous) return change;
    if ('index' in previous) return {...change, previousIndex: this.index(previous.index)};
    const opened = await this.open(previous.body, deadline);
    return {...change, previousIndex: opened.index, previousImage: opened.image};
  }

  /** The changes of a type among records, in their order. */
  async changes(records: readonly SlotRecord[], type: string, deadline: Deadline): Promise<Change[]> {
    const wanted = records.filter((record): record is ChangeRecord => isChange(record) && record.type === type);
    return Promise.all(wanted.map((record) => this.change(record, deadline)));
  }

  /** Removes sets to which no object has pointed for as long as any record of them is kept. Returns how many. */
  async sweep(deadline: Deadline): Promise<number> {
    const {calls, keys, tables, patience, keepMs} = this.#place;
    const now = patience.clock.now();
    let removed = 0;
    let start: Item | undefined;
    do {
      const page = await patience.repeat(deadline, () =>
        calls.query({
          TableName: tables.objects,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: {':pk': {S: keys.chunkSets()}},
          ConsistentRead: true,
          ...(start && {ExclusiveStartKey: start}),
        }),
      );
      start = page.LastEvaluatedKey;
      const sets = (page.Items ?? []).filter((set) => now - Number(set['at']!.N) > keepMs);
      for (const set of sets) {
        if (patience.passed(deadline)) return removed;
        if (await this.#isUsed(set, deadline)) continue;
        const orphanedAt = set['orphanedAt']?.N;
        const key = {pk: set['pk']!, sk: set['sk']!};
        if (orphanedAt === undefined) {
          const mark = {UpdateExpression: 'SET orphanedAt = :now', ExpressionAttributeValues: {':now': {N: String(now)}}};
          await patience.repeat(deadline, () => calls.updateItem({TableName: tables.objects, Key: key, ...mark}));
        } else if (now - Number(orphanedAt) > 2 * keepMs) {
          const attempt = set['sk']!.S!;
          const deletes = Array.from({length: Number(set['chunks']!.N)}, (_, n) => ({
            DeleteRequest: {Key: {pk: {S: keys.chunk(attempt, n)}, sk: {S: 'c'}}},
          }));
          await this.#writeAll(deletes, deadline);
          await patience.repeat(deadline, () => calls.deleteItem({TableName: tables.objects, Key: key}));
          removed++;
        }
      }
    } while (start);
    return removed;
  }

  async #isUsed(set: Item, deadline: Deadline): Promise<boolean> {
    const {calls, keys, tables, patience} = this.#place;
    const key = {pk: {S: keys.objects(set['type']!.S!)}, sk: set['key']!};
    const {Item: object} = await patience.repeat(deadline, () =>
      calls.getItem({
        TableName: tables.objects,
        Key: key,
        ConsistentRead: true,
        ProjectionExpression: '#blob',
        ExpressionAttributeNames: {'#blob': 'blob'},
      }),
    );
    return object?.['blob']?.S === set['sk']!.S;
  }

  async #fetch({attempt, chunks}: Blob, deadline: Deadline): Promise<Content> {
    const {keys, tables, transform} = this.#place;
    const wanted = Array.from({length: chunks}, (_, n) => ({pk: {S: keys.chunk(attempt, n)}, sk: {S: 'c'}}));
    const found = await getAll(this.#place, tables.objects, wanted, deadline);
    const pieces = wanted.map(({pk, sk}) => found.get(`${pk.S}\0${sk.S}`)?.['bytes']?.B);
    if (pieces.some((piece) => piece === undefined)) throw new StoreError('Corrupt', `chunks of ${attempt} are missing`);
    return unpack(Buffer.concat(pieces as Uint8Array[]), transform);
  }

  /** Batches that no answer may exceed in bytes or number; what DynamoDB left is asked for again. */
  async #writeAll(requests: readonly ({PutRequest: {Item: Item}} | {DeleteRequest: {Key: Item}})[], deadline: Deadline): Promise<void> {
    const {calls, tables, patience} = this.#place;
    for (let at = 0; at < requests.length; at += 25) {
      let left: readonly object[] = requests.slice(at, at + 25);
      for (let tries = 0; left.length > 0; tries++) {
        if (tries > 0) await patience.pause(tries);
        const request = {RequestItems: {[tables.objects]: [...left]}};
        const {UnprocessedItems} = await patience.repeat(deadline, () => calls.batchWriteItem(request));
        left = UnprocessedItems?.[tables.objects] ?? [];
        if (left.length > 0 && patience.passed(deadline)) throw new StoreError('Unavailable', 'the database takes no more for now');
      }
    }
  }
}
