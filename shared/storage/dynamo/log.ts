/**
 * The log of a group: slots by revision. What is in them is read here; that they are all written is seen to as well, by waiting for
 * who is about to write, and at last by filling the hole with a no-op. Whether object items show what the log says: see settled().
 */

import {type Revision, StoreError} from '../contract.ts';
import {type ChangeRecord, type Filler, type Item, isChange, objectFrom, recordFrom, recordItem, type SlotRecord} from './items.ts';
import {bucketOf, bucketsOf} from './keys.ts';
import {getAll, idOf, isDoubtful, type Place} from './place.ts';
import {type Deadline, isConditionFailure} from './retry.ts';
import type {Sequencer} from './sequencer.ts';

/** A hole is filled when it has lasted for this many times what a slow commit takes: the writer is dead, or will begin again. */
const patienceForCommits = 10;
const shortestHoleWaitMs = 500;
const longestHoleWaitMs = 10_000;
const firstLookMs = 5;
const longestLookMs = 250;
/** Commits that are remembered to tell what a slow one takes. */
const rememberedCommits = 200;
const slotIsEmpty = 'attribute_not_exists(pk)';

export class Log {
  readonly #place: Place;
  readonly #sequencer: Sequencer;
  readonly #commitMs: number[] = [];
  #commits = 0;
  /** Slots that this process is about to write: nobody needs to ask whether their writer is alive. */
  readonly #own = new Set<string>();

  constructor(place: Place, sequencer: Sequencer) {
    this.#place = place;
    this.#sequencer = sequencer;
  }

  slot(group: string, revision: Revision): {pk: {S: string}; sk: {N: string}} {
    return {pk: {S: this.#place.keys.log(group, bucketOf(revision))}, sk: {N: String(revision)}};
  }

  item(group: string, record: SlotRecord): Item {
    const ttl = Math.ceil((record.at + this.#place.keepMs) / 1000);
    return recordItem(this.#place.keys.log(group, bucketOf(record.revision)), record, ttl);
  }

  reserved(group: string, revision: Revision): void {
    this.#own.add(`${group} ${revision}`);
  }

  /** It was written, or never will be; `ms` since its reservation when it was written. */
  done(group: string, revision: Revision, ms?: number): void {
    this.#own.delete(`${group} ${revision}`);
    if (ms !== undefined) this.#commitMs[this.#commits++ % rememberedCommits] = ms;
  }

  async get(group: string, revision: Revision, deadline: Deadline): Promise<SlotRecord | undefined> {
    const {calls, tables, patience} = this.#place;
    const request = {TableName: tables.log, Key: this.slot(group, revision), ConsistentRead: true};
    const {Item: item} = await patience.repeat(deadline, () => calls.getItem(request));
    return item && recordFrom(item);
  }

  async getSome(group: string, revisions: readonly Revision[], deadline: Deadline): Promise<Map<Revision, SlotRecord>> {
    const keys = revisions.map((revision) => this.slot(group, revision));
    const items = await getAll(this.#place, this.#place.tables.log, keys, deadline);
    return new Map([...items.values()].map(recordFrom).map((record) => [record.revision, record]));
  }

  /** What is written in (from, to]. One query for each bucket that the range touches. */
  async present(group: string, from: Revision, to: Revision, deadline: Deadline): Promise<Map<Revision, SlotRecord>> {
    const {calls, tables, keys, patience} = this.#place;
    const records: SlotRecord[] = [];
    const read = async (bucket: number): Promise<void> => {
      let start: Item | undefined;
      do {
        const page = await patience.repeat(deadline, () =>
          calls.query({
            TableName: tables.log,
            KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
            ExpressionAttributeValues: {
              ':pk': {S: keys.log(group, bucket)},
              ':first': {N: String(from + 1)},
              ':last': {N: String(to)},
            },
            ConsistentRead: true,
            ...(start && {ExclusiveStartKey: start}),
          }),
        );
        for (const item of page.Items ?? []) records.push(recordFrom(item));
        start = page.LastEvaluatedKey;
      } while (start);
    };
    if (from < to) await Promise.all(bucketsOf(from, to).map(read));
    return new Map(records.sort((a, b) => a.revision - b.revision).map((record) => [record.revision, record]));
  }

  /**
   * Every slot of (from, to], in order; `to` must have been handed out. Waits for what is in flight. With `atLeast`, only for the slots
   * up to there, and returns what follows them without a gap.
   * @throws StoreError Compacted when the first slots are gone, Unavailable at the deadline
   */
  async complete(group: string, from: Revision, to: Revision, deadline: Deadline, atLeast = to): Promise<SlotRecord[]> {
    const {patience} = this.#place;
    const records = await this.present(group, from, to, deadline);
    let missing = missingOf(records, from, atLeast);
    const began = patience.elapsed();
    for (let look = firstLookMs; missing.length > 0; look = Math.min(longestLookMs, 2 * look)) {
      if (patience.passed(deadline)) throw new StoreError('Unavailable', `revision ${missing[0]} is being written`);
      const waited = patience.elapsed() - began;
      if (waited >= this.#holeWaitMs()) await this.#fillAll(group, missing, records, deadline);
      else await patience.sleep(look);
      missing = missingOf(records, from, atLeast);
      if (missing.length === 0) break;
      const found =
        missing.length > 100 ? await this.present(group, missing[0]! - 1, atLeast, deadline) : await this.getSome(group, missing, deadline);
      for (const [revision, record] of found) records.set(revision, record);
      missing = missingOf(records, from, atLeast);
    }
    const prefix: SlotRecord[] = [];
    for (let record = records.get(from + 1); record; record = records.get(record.revision + 1)) prefix.push(record);
    return prefix;
  }

  /**
   * Writes a no-op into an empty slot, and returns what is in it. `deadline` counts from a reading of `closed` below the slot, or from
   * its reservation: fillers outlive it by far, so the slot cannot have been swept meanwhile.
   */
  async fill(group: string, revision: Revision, deadline: Deadline): Promise<SlotRecord> {
    const {calls, tables, patience} = this.#place;
    for (;;) {
      if (patience.passed(deadline)) throw new StoreError('Unavailable', `revision ${revision} could not be settled in time`);
      const filler: Filler = {revision, attempt: this.#place.newAttempt(), at: patience.clock.now()};
      try {
        // A conflict means that the writer is alive: it may win.
        await patience.repeat(deadline, () =>
          calls.putItem({
            TableName: tables.log,
            Item: this.item(group, filler),
            ConditionExpression: slotIsEmpty,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return filler;
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        const record = error.Item ? recordFrom(error.Item) : await this.get(group, revision, deadline);
        if (record) return record;
      }
    }
  }

  /** Waits until plain reads of the objects show what these records say. Own commits do: DynamoDB has said that they are done. */
  async settled(records: readonly SlotRecord[], deadline: Deadline): Promise<void> {
    const {keys, tables, patience} = this.#place;
    const newest = new Map<string, {key: Item; record: ChangeRecord}>();
    for (const record of records) {
      if (!isChange(record)) continue;
      const key = {pk: {S: keys.objects(record.type)}, sk: {S: record.key}};
      newest.set(idOf(key), {key, record});
    }
    for (let tries = 0; newest.size > 0; tries++) {
      if (tries > 0) await patience.sleep(Math.min(longestLookMs, firstLookMs * 2 ** tries));
      if (patience.passed(deadline)) throw new StoreError('Unavailable', 'a change is being applied');
      const wanted = [...newest.values()].map(({key}) => key);
      const found = await getAll(this.#place, tables.objects, wanted, deadline, ['rev', 'at', 'dead']);
      for (const [id, {record}] of newest) {
        const item = found.get(id);
        // A deletion whose tombstone was swept was closed long ago.
        if (item ? objectFrom(item).revision >= record.revision : record.operation === 'delete') newest.delete(id);
      }
    }
  }

  async #fillAll(group: string, missing: readonly Revision[], records: Map<Revision, SlotRecord>, deadline: Deadline): Promise<void> {
    const {patience} = this.#place;
    const fillBy = patience.in(longestHoleWaitMs);
    const sequence = await this.#sequencer.read(group, deadline);
    const {closed} = sequence;
    if (isDoubtful(this.#place, sequence)) {
      await this.#sequencer.forget(group, sequence, patience.clock.now(), deadline);
      throw new StoreError('Compacted', `revision ${missing[0]} is no longer kept`, {revision: sequence.last});
    }
    // Again, since they may have been written, closed and read by others after we looked.
    const late = await this.getSome(group, missing, deadline);
    for (const [revision, record] of late) records.set(revision, record);
    const holes = missing.filter((revision) => !late.has(revision));
    if (holes[0] !== undefined && holes[0] <= closed)
      throw new StoreError('Compacted', `revision ${holes[0]} is no longer kept`, {revision: closed});
    const foreign = holes.filter((revision) => !this.#own.has(`${group} ${revision}`));
    for (const record of await Promise.all(foreign.map((revision) => this.fill(group, revision, fillBy))))
      records.set(record.revision, record);
    if (foreign.length < holes.length) await patience.sleep(longestLookMs);
  }

  #holeWaitMs(): number {
    if (this.#commitMs.length === 0) return 2 * shortestHoleWaitMs;
    const slow = [...this.#commitMs].sort((a, b) => a - b)[Math.floor(this.#commitMs.length * 0.99)]!;
    return Math.min(longestHoleWaitMs, Math.max(shortestHoleWaitMs, patienceForCommits * slow));
  }
}

function missingOf(records: ReadonlyMap<Revision, SlotRecord>, from: Revision, to: Revision): Revision[] {
  const missing: Revision[] = [];
  for (let revision = from + 1; revision <= to; revision++) if (!records.has(revision)) missing.push(revision);
  return missing;
}
