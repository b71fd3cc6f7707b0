/**
 * Lists. The pages of a query are no snapshot; the log makes them one: what is written between the closed prefix and the newest
 * revision that the list must show is replayed onto them. A process that has made a list keeps it, and its next one is that plus what
 * changed since. An older revision is what the newest was before the changes after it, undone.
 */

import {type Index, type Revision, type Scan, type ScanOptions, type Stored, StoreError} from '../contract.ts';
import {sortKey} from '../embedded/backing.ts';
import type {Bodies} from './chunks.ts';
import type {Feed} from './feed.ts';
import {blobOf, type ChangeRecord, type Item, isChange, type ObjectItem, objectFrom, type SlotRecord} from './items.ts';
import type {Known} from './known.ts';
import type {Log} from './log.ts';
import {listDeadlineMs, type Place} from './place.ts';
import type {Deadline} from './retry.ts';
import type {Sequence, Sequencer} from './sequencer.ts';

/** Changes that are replayed or undone for one list at most; beyond them reading it anew is cheaper, and older is no longer kept. */
const maxReplayed = 20_000;
/** A list that has its items and more pages than this behind them stops reading; what remains is not told then. */
const pagesToCount = 4;
const entryBytes = 500;
const leftOverAtOnce = 16;

interface Entry extends Known {
  sort: string;
}

/** The objects under a prefix at a revision, in order. Never changed after it is made. */
interface Snapshot {
  revision: Revision;
  entries: readonly Entry[];
  bytes: number;
}

/** A list under way: where it begins, and where it ends if not with the prefix. */
interface Range {
  prefix: string;
  after: string | undefined;
  /** Read up to this key only. */
  end?: string;
}

export class Lists {
  readonly #place: Place;
  readonly #sequencer: Sequencer;
  readonly #log: Log;
  readonly #bodies: Bodies;
  readonly #maxBytes: number;
  readonly #leftOver: (type: string, tombstone: ObjectItem) => void;
  readonly #snapshots = new Map<string, Snapshot>();
  #bytes = 0;

  /** `leftOver`: told of tombstones whose records are gone, so that no sweep along the log will find them. */
  constructor(
    place: Place,
    sequencer: Sequencer,
    log: Log,
    bodies: Bodies,
    maxBytes: number,
    leftOver: (type: string, tombstone: ObjectItem) => void,
  ) {
    this.#place = place;
    this.#sequencer = sequencer;
    this.#log = log;
    this.#bodies = bodies;
    this.#maxBytes = maxBytes;
    this.#leftOver = leftOver;
  }

  /** What the last list knew of an object. */
  known(type: string, key: string, revision: Revision): Known | undefined {
    const snapshot = this.#snapshots.get(`${type}\0`) ?? this.#snapshots.get(`${type}\0${key.slice(0, key.indexOf('/') + 1)}`);
    if (!snapshot) return undefined;
    const entry = snapshot.entries[positionOf(snapshot.entries, sortKey(key))];
    return entry?.stored.key === key && entry.stored.revision === revision ? entry : undefined;
  }

  /** `ahead`: the state of the log, when it was read already. */
  async scan(type: string, options: ScanOptions, feed: Feed, ahead: Sequence | undefined): Promise<Scan> {
    const {patience} = this.#place;
    const deadline = patience.in(listDeadlineMs);
    const sequence = ahead ?? (await this.#sequencer.read(feed.group, deadline));
    feed.closed = Math.max(feed.closed, sequence.closed);
    const {at} = options;
    if (at !== undefined) {
      if (at < sequence.compacted)
        throw new StoreError('Compacted', `revision ${at} has been compacted; the oldest kept is ${sequence.compacted}`, {
          revision: sequence.compacted,
        });
      if (at > sequence.last) throw new StoreError('Future', `revision ${at} is newer than ${sequence.last}`, {revision: sequence.last});
    }
    const range: Range = {prefix: options.prefix, after: options.after};
    const newest =
      (await this.#warm(type, range, at ?? sequence.last, sequence, feed, deadline)) ??
      (await this.#cold(type, range, options, sequence, feed, deadline).catch(async (error: unknown) => {
        // What was to be replayed has been given up since the sequencer was read: now it counts as closed.
        if (!(error instanceof StoreError && error.code === 'Compacted')) throw error;
        return this.#cold(type, range, options, await this.#sequencer.read(feed.group, deadline), feed, deadline);
      }));
    const {snapshot, whole} = newest;
    // Asked for the newest, a list may be newer than the question: a page has shown it.
    const revision = at ?? snapshot.revision;
    const entries = revision < snapshot.revision ? await this.#undone(type, range, snapshot, revision, feed, deadline) : snapshot.entries;
    return cut(entries, revision, options, whole);
  }

  /** How many objects there are now, without what they hold. */
  async count(type: string, deadline: Deadline): Promise<number> {
    const {calls, keys, tables, patience} = this.#place;
    let count = 0;
    let start: Item | undefined;
    do {
      const page = await patience.repeat(deadline, () =>
        calls.query({
          TableName: tables.objects,
          KeyConditionExpression: 'pk = :pk',
          FilterExpression: 'attribute_not_exists(dead)',
          ExpressionAttributeValues: {':pk': {S: keys.objects(type)}},
          Select: 'COUNT',
          ConsistentRead: true,
          ...(start && {ExclusiveStartKey: start}),
        }),
      );
      count += page.Count ?? 0;
      start = page.LastEvaluatedKey;
    } while (start);
    return count;
  }

  /** From what is kept: redone up to `to`, or as it is when it is newer. */
  async #warm(type: string, range: Range, to: Revision, sequence: Sequence, feed: Feed, deadline: Deadline) {
    for (const prefix of new Set(['', range.prefix.slice(0, range.prefix.indexOf('/') + 1), range.prefix])) {
      const id = `${type}\0${prefix}`;
      const kept = this.#snapshots.get(id);
      if (!kept || kept.revision < sequence.compacted || to - kept.revision > maxReplayed) continue;
      // Lists asked for last are kept longest.
      this.#snapshots.delete(id);
      this.#snapshots.set(id, kept);
      if (kept.revision >= to) return {snapshot: kept, whole: true};
      try {
        const records = await feed.records(kept.revision, to);
        const entries = await this.#redone(type, {prefix, after: undefined}, kept.entries, records, deadline);
        const snapshot = {revision: to, entries, bytes: bytesOf(entries)};
        this.#keep(id, snapshot);
        return {snapshot, whole: true};
      } catch (error) {
        // What it would take to bring it up to date is gone.
        if (!(error instanceof StoreError && error.code === 'Compacted')) throw error;
        this.#forget(id);
      }
    }
    return undefined;
  }

  async #cold(type: string, range: Range, options: ScanOptions, sequence: Sequence, feed: Feed, deadline: Deadline) {
    const {patience} = this.#place;
    const {items, whole} = await this.#pages(type, range, options, deadline);
    // A list that took too long may miss a deletion whose tombstone was swept meanwhile.
    if (patience.passed(deadline)) throw new StoreError('Unavailable', 'the list took too long');
    const forgottenAt = patience.clock.now() - this.#place.keepMs;
    const leftOver = items.filter(({body, at, revision}) => !body && at < forgottenAt && revision <= sequence.closed);
    for (const tombstone of leftOver.slice(0, leftOverAtOnce)) this.#leftOver(type, tombstone);
    const to = items.reduce((highest, item) => Math.max(highest, item.revision), sequence.last);
    const records = await this.#log.complete(feed.group, sequence.closed, to, deadline);
    const shown = new Map(items.map((item) => [item.key, item.revision]));
    // What the pages show is settled; what only the log says must show to readers, too, before a list tells it.
    await this.#log.settled(
      records.filter(
        (record) => isChange(record) && record.type === type && lies(record.key, range) && (shown.get(record.key) ?? 0) < record.revision,
      ),
      deadline,
    );
    if (feed.group === type && whole && lies('', range)) feed.settledThrough = Math.max(feed.settledThrough, to);
    const read = whole ? range : {...range, end: items.at(-1)!.key};
    const live = items.filter((item) => item.body !== undefined);
    const entries = await Promise.all(live.map((item) => this.#entry(item, deadline)));
    const snapshot: Snapshot = {revision: to, entries: await this.#redone(type, read, entries, records, deadline), bytes: 0};
    snapshot.bytes = bytesOf(snapshot.entries);
    if (whole && range.after === undefined) this.#keep(`${type}\0${range.prefix}`, snapshot);
    return {snapshot, whole};
  }

  /** As many pages as the list needs. */
  async #pages(type: string, {prefix, after}: Range, options: ScanOptions, deadline: Deadline) {
    const {calls, keys, tables, patience} = this.#place;
    const pk = {S: keys.objects(type)};
    const items: ObjectItem[] = [];
    // Bytewise: after the prefix's own start nothing is gained by saying where to begin.
    const begins = after !== undefined && sortKey(after) >= sortKey(prefix);
    if (begins && !after.startsWith(prefix)) return {items, whole: true};
    let start: Item | undefined = begins ? {pk, sk: {S: after}} : undefined;
    for (let pages = 1; ; pages++) {
      const page = await patience.repeat(deadline, () =>
        calls.query({
          TableName: tables.objects,
          KeyConditionExpression: prefix ? 'pk = :pk AND begins_with(sk, :prefix)' : 'pk = :pk',
          ExpressionAttributeValues: {':pk': pk, ...(prefix && {':prefix': {S: prefix}})},
          ConsistentRead: true,
          ...(start && {ExclusiveStartKey: start}),
        }),
      );
      for (const item of page.Items ?? []) items.push(objectFrom(item));
      start = page.LastEvaluatedKey;
      if (!start) return {items, whole: true};
      // Its filter needs the objects themselves: such a list is read to its end.
      if (options.limit !== undefined && !options.filter && pages >= pagesToCount && options.at === undefined) {
        const live = items.filter((item) => item.body !== undefined);
        if (live.length > 2 * options.limit + 1) return {items, whole: false};
      }
    }
  }

  async #entry(item: ObjectItem, deadline: Deadline): Promise<Entry> {
    const body = item.body!;
    return {stored: await this.#bodies.stored({...item, body}, deadline), at: item.at, blob: blobOf(body), sort: sortKey(item.key)};
  }

  /** Records after the entries, played onto them. A record that a page showed already changes nothing. */
  async #redone(type: string, range: Range, entries: readonly Entry[], records: readonly SlotRecord[], deadline: Deadline) {
    const last = new Map<string, ChangeRecord>();
    for (const record of records) if (isChange(record) && record.type === type && lies(record.key, range)) last.set(record.key, record);
    if (last.size === 0) return entries;
    const changes = new Map<string, Entry | undefined>();
    for (const [key, record] of last) {
      const entry = entries[positionOf(entries, sortKey(key))];
      if (entry?.stored.key === key && entry.stored.revision >= record.revision) continue;
      const {revision, at, body} = record;
      changes.set(
        sortKey(key),
        record.operation === 'delete'
          ? undefined
          : {stored: await this.#bodies.stored({key, revision, body}, deadline), at, blob: blobOf(body), sort: sortKey(key)},
      );
    }
    return merged(entries, changes);
  }

  /** The entries as they were at `revision`: the first record after it tells what it replaced. */
  async #undone(type: string, range: Range, {entries, revision: from}: Snapshot, revision: Revision, feed: Feed, deadline: Deadline) {
    if (from - revision > maxReplayed) throw forgotten(revision, from - maxReplayed);
    const records = await this.#log.complete(feed.group, revision, from, deadline);
    const first = new Map<string, ChangeRecord>();
    for (const record of records)
      if (isChange(record) && record.type === type && lies(record.key, range) && !first.has(record.key)) first.set(record.key, record);
    const changes = new Map<string, Entry | undefined>();
    const elsewhere: ChangeRecord[] = [];
    for (const record of first.values()) {
      const {key, previousRevision, previous} = record;
      if (previousRevision === 0) changes.set(sortKey(key), undefined);
      else if (previous && 'body' in previous) {
        const stored = await this.#bodies.stored({key, revision: previousRevision, body: previous.body}, deadline);
        changes.set(sortKey(key), {stored, at: 0, sort: sortKey(key)});
      } else elsewhere.push(record);
    }
    const revisions = elsewhere.map((record) => record.previousRevision);
    const found = revisions.length > 0 ? await this.#log.getSome(feed.group, revisions, deadline) : new Map<Revision, SlotRecord>();
    for (const {key, previousRevision} of elsewhere) {
      const before = found.get(previousRevision);
      if (!before || !isChange(before)) throw forgotten(revision, from);
      const stored = await this.#bodies.stored({key, revision: previousRevision, body: before.body}, deadline);
      changes.set(sortKey(key), {stored, at: before.at, sort: sortKey(key)});
    }
    return merged(entries, changes);
  }

  #keep(id: string, snapshot: Snapshot): void {
    const before = this.#snapshots.get(id);
    if (before && before.revision > snapshot.revision) return;
    this.#forget(id);
    if (snapshot.bytes > this.#maxBytes) return;
    this.#snapshots.set(id, snapshot);
    this.#bytes += snapshot.bytes;
    for (const oldest of this.#snapshots.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#bytes -= this.#snapshots.get(id)?.bytes ?? 0;
    this.#snapshots.delete(id);
  }
}

const forgotten = (revision: Revision, oldest: Revision): StoreError =>
  new StoreError('Compacted', `revision ${revision} is no longer kept`, {revision: oldest});

const lies = (key: string, {prefix, after, end}: Range): boolean =>
  key.startsWith(prefix) && (after === undefined || sortKey(key) > sortKey(after)) && (end === undefined || sortKey(key) <= sortKey(end));

const bytesOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, {stored}) => sum + stored.image.length + indexBytes(stored.index) + entryBytes, 0);
const indexBytes = ({labels = {}}: Index): number => 60 * Object.keys(labels).length;

/** Where a key stands, or would stand. */
function positionOf(entries: readonly Entry[], sort: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle]!.sort < sort) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Entries with some replaced, added or (undefined) taken out. */
function merged(entries: readonly Entry[], changes: ReadonlyMap<string, Entry | undefined>): readonly Entry[] {
  if (changes.size === 0) return entries;
  const added = [...changes.values()].filter((entry) => entry !== undefined).sort((a, b) => (a.sort < b.sort ? -1 : 1));
  const result: Entry[] = [];
  let next = 0;
  for (const entry of entries) {
    while (next < added.length && added[next]!.sort < entry.sort) result.push(added[next++]!);
    if (!changes.has(entry.sort)) result.push(entry);
  }
  while (next < added.length) result.push(added[next++]!);
  return result;
}

function cut(
  entries: readonly Entry[],
  revision: Revision,
  {prefix, after, limit = Number.POSITIVE_INFINITY, filter}: ScanOptions,
  whole: boolean,
): Scan {
  const start = sortKey(prefix);
  let position = positionOf(entries, start);
  if (after !== undefined && sortKey(after) >= start) {
    position = Math.max(position, positionOf(entries, sortKey(after)));
    if (entries[position]?.stored.key === after) position++;
  }
  const items: Stored[] = [];
  let more = !whole;
  for (; position < entries.length; position++) {
    const {stored} = entries[position]!;
    if (!stored.key.startsWith(prefix)) break;
    if (items.length >= limit) {
      more = true;
      break;
    }
    if (!filter || filter(stored)) items.push(stored);
  }
  if (!more) return {revision, items, more};
  if (!whole) return {revision, items, more};
  // What follows the last item that is told, whether the filter let it pass or not.
  const last = items.at(-1)?.key ?? after;
  const from = last === undefined ? positionOf(entries, start) : positionAfter(entries, last, start);
  let remaining = 0;
  for (let at = from; at < entries.length && entries[at]!.stored.key.startsWith(prefix); at++) remaining++;
  return {revision, items, more, remaining};
}

function positionAfter(entries: readonly Entry[], key: string, start: string): number {
  const sort = sortKey(key);
  const at = Math.max(positionOf(entries, sort), positionOf(entries, start));
  return entries[at]?.sort === sort ? at + 1 : at;
}
