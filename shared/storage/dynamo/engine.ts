/**
 * The store over DynamoDB: a shared log with a sequencer for each group of types, many processes, no server. Each part is told in a
 * file of its own: ./commit.ts writes, ./list.ts lists, ./log.ts reads the log, ./feed.ts tells subscribers, ./maintain.ts tidies up.
 * The protocol, and what breaks without each of its rules: ../model, docs/consistency.md.
 */

import {
  type Change,
  type Revision,
  type Scan,
  type ScanOptions,
  type Session,
  type Store,
  type Stored,
  StoreError,
  type SubscribeOptions,
  type Subscriber,
  type Subscription,
  type Write,
} from '../contract.ts';
import {Bodies} from './chunks.ts';
import {type Check, Commits} from './commit.ts';
import {copyToMemory} from './copy.ts';
import {Feed} from './feed.ts';
import {blobOf, type Item} from './items.ts';
import {epoch, groupOf} from './keys.ts';
import {type Known, KnownObjects} from './known.ts';
import {Lists} from './list.ts';
import {Log} from './log.ts';
import {Upkeep} from './maintain.ts';
import {Meta} from './meta.ts';
import {getAll, idOf, isDoubtful, listDeadlineMs, type Place, readDeadlineMs, staleMsOf} from './place.ts';
import {Poll, type PollIntervals} from './poll.ts';
import {type Sequence, Sequencer} from './sequencer.ts';
import {type Ahead, EngineSession} from './session.ts';

export interface EngineOptions {
  poll: PollIntervals;
  /** Lists and objects that are kept to make the next request cheaper. */
  cacheBytes: number;
}

/** The log is closed by its writers as well, once in so many revisions: two calls more for each of them. */
const closeEvery = 64;
const knownObjectsShare = 4;

export class Engine implements Store {
  readonly #place: Place;
  readonly #sequencer: Sequencer;
  readonly #log: Log;
  readonly #bodies: Bodies;
  readonly #commits: Commits;
  readonly #lists: Lists;
  readonly #known: KnownObjects;
  readonly #upkeep: Upkeep;
  readonly #meta: Meta;
  readonly #poll: Poll;
  readonly #feeds = new Map<string, Feed>();
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  constructor(place: Place, {poll, cacheBytes}: EngineOptions) {
    this.#place = place;
    this.#sequencer = new Sequencer(place.calls, place.tables.objects, place.keys, place.patience);
    this.#log = new Log(place, this.#sequencer);
    this.#bodies = new Bodies(place);
    this.#upkeep = new Upkeep(place, this.#sequencer, this.#log, this.#bodies);
    this.#commits = new Commits(place, this.#sequencer, this.#log, this.#bodies, (group, deadline) =>
      this.#upkeep.refresh(this.#feedOf(group), deadline),
    );
    this.#lists = new Lists(place, this.#sequencer, this.#log, this.#bodies, cacheBytes, (type, {key, revision}) =>
      this.#inBackground(this.#upkeep.removeTombstone(type, key, revision, place.patience.in(readDeadlineMs))),
    );
    this.#known = new KnownObjects(cacheBytes / knownObjectsShare);
    this.#meta = new Meta(place);
    const heard = (feed: Feed, sequence: Sequence): Promise<void> => this.#heard(feed, sequence);
    this.#poll = new Poll(place, this.#sequencer, poll, () => this.#feeds.values(), heard);
  }

  /** @throws StoreError NewerFormat, Unavailable */
  async open(): Promise<this> {
    await this.#meta.open(this.#place.patience.in(readDeadlineMs));
    return this;
  }

  append(write: Write): Promise<Stored> {
    return this.appendIn(write, undefined, () => {});
  }

  /** `believed`: the epoch that must not have moved; `looked` when it has been looked at. */
  async appendIn(write: Write, believed: Revision | undefined, looked: () => void): Promise<Stored> {
    this.#assertOpen();
    const work = this.#append(write, believed, looked);
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async read(type: string, key: string, until?: number): Promise<Stored | undefined> {
    this.#assertOpen();
    const {calls, tables, patience} = this.#place;
    const deadline = patience.by(until, readDeadlineMs);
    const request = {TableName: tables.objects, Key: this.#objectKey(type, key), ConsistentRead: true};
    const {Item: item} = await patience.repeat(deadline, () => calls.getItem(request));
    return this.#noted(type, item);
  }

  scan(type: string, options: ScanOptions): Promise<Scan> {
    return this.scanFrom(type, options, undefined);
  }

  async scanFrom(type: string, options: ScanOptions, ahead: Sequence | undefined): Promise<Scan> {
    this.#assertOpen();
    const feed = this.#feed(type);
    let scan = await this.#lists.scan(type, options, feed, ahead);
    if (scan.revision === 0 && options.at === undefined) {
      await this.#open(feed.group);
      scan = await this.#lists.scan(type, options, feed, undefined);
    }
    this.#closeSoon(feed, scan.revision);
    return scan;
  }

  head(type: string): Promise<Revision> {
    return this.headFrom(type, undefined);
  }

  /** Who is subscribed has been told everything up to it when it is answered. */
  async headFrom(type: string, ahead: Sequence | undefined): Promise<Revision> {
    this.#assertOpen();
    const feed = this.#feed(type);
    let sequence = ahead ?? (await this.#sequencer.read(feed.group, this.#place.patience.in(readDeadlineMs)));
    if (sequence.last === 0) sequence = await this.#open(feed.group);
    if (feed.used) await this.#heard(feed, sequence);
    return sequence.last;
  }

  async log(type: string, from: Revision, to: Revision, limit = Number.POSITIVE_INFINITY): Promise<Change[]> {
    this.#assertOpen();
    const feed = this.#feed(type);
    const deadline = this.#place.patience.in(listDeadlineMs);
    const sequence = await this.#sequencer.read(feed.group, deadline);
    assertKept(from, sequence);
    feed.closed = Math.max(feed.closed, sequence.closed);
    const changes: Change[] = [];
    const end = Math.min(to, sequence.last);
    for (let start = from; start < end && changes.length < limit; start += stepRevisions) {
      const records = await feed.records(start, Math.min(end, start + stepRevisions));
      changes.push(...(await this.#bodies.changes(records, type, deadline)));
    }
    return changes.slice(0, limit);
  }

  async subscribe(type: string, from: Revision, subscriber: Subscriber, options: SubscribeOptions = {}): Promise<Subscription> {
    this.#assertOpen();
    const feed = this.#feed(type);
    const sequence = await this.#sequencer.read(feed.group, this.#place.patience.in(readDeadlineMs));
    this.#assertOpen();
    assertKept(from, sequence);
    feed.closed = Math.max(feed.closed, sequence.closed);
    const subscription = feed.subscribe(type, from, sequence.last, subscriber, options.passive ?? false);
    this.#poll.wake();
    return subscription;
  }

  async compactedThrough(type: string): Promise<Revision> {
    this.#assertOpen();
    return (await this.#sequencer.read(groupOf(type), this.#place.patience.in(readDeadlineMs))).compacted;
  }

  async compact(through: Revision): Promise<void> {
    this.#assertOpen();
    await this.#eachGroup((feed) => this.#upkeep.compact(feed, through, this.#place.patience.in(listDeadlineMs)));
  }

  /** Each group by its own revisions; answers the highest that one of them is compacted through. */
  async compactBefore(before: number): Promise<Revision> {
    this.#assertOpen();
    const deadline = this.#place.patience.in(listDeadlineMs);
    const through = await this.#eachGroup(async (feed) =>
      this.#upkeep.compact(feed, await this.#upkeep.lastBefore(feed, before, deadline), deadline),
    );
    return Math.max(0, ...through);
  }

  async counts(): Promise<Map<string, number>> {
    this.#assertOpen();
    const deadline = this.#place.patience.in(listDeadlineMs);
    const types = await this.#meta.types(deadline);
    const counted = await Promise.all(types.map(async (type) => [type, await this.#lists.count(type, deadline)] as const));
    return new Map(counted.filter(([, count]) => count > 0));
  }

  async fork(): Promise<Store> {
    this.#assertOpen();
    return copyToMemory(this, await this.#meta.types(this.#place.patience.in(readDeadlineMs)), this.#place.patience.clock);
  }

  async begin(options: {ahead?: {type: string; key?: string}; optimistic?: boolean; deadline?: number} = {}): Promise<Session> {
    const {ahead, optimistic} = options;
    this.#assertOpen();
    const feed = this.#feedOf(epoch);
    // Who is still catching up decides by less than what is known.
    if (optimistic && feed.through !== undefined) return new EngineSession(this, {}, Math.min(feed.through, feed.told()), options.deadline);
    const {patience, tables} = this.#place;
    const deadline = patience.by(options.deadline, readDeadlineMs);
    const epochKey = this.#sequencer.key(epoch);
    const group = ahead && groupOf(ahead.type);
    const aheadKey =
      ahead?.key !== undefined ? this.#objectKey(ahead.type, ahead.key) : group !== undefined ? this.#sequencer.key(group) : undefined;
    const keys = aheadKey && idOf(aheadKey) !== idOf(epochKey) ? [epochKey, aheadKey] : [epochKey];
    const found = await getAll(this.#place, tables.objects, keys, deadline);
    const sequence = this.#sequencer.from(found.get(idOf(epochKey)));
    await this.#heard(feed, sequence);
    const read: Ahead = {};
    const item = aheadKey && found.get(idOf(aheadKey));
    if (ahead?.key !== undefined) read.object = {type: ahead.type, key: ahead.key, stored: await this.#noted(ahead.type, item)};
    else if (ahead) read.sequence = {group: group!, type: ahead.type, state: this.#sequencer.from(item)};
    return new EngineSession(this, read, optimistic ? sequence.last : undefined, options.deadline);
  }

  /** @throws StoreError ConfigurationMoved */
  async confirm(believed: Revision, until?: number): Promise<void> {
    this.#assertOpen();
    await this.#look(believed, undefined, until);
  }

  /**
   * What a schedule, or a server in its idle time, calls: closes the logs, forgets what is older than is served, sweeps tombstones and
   * orphaned chunks. Stops when `budgetMs` have passed; the next call goes on.
   */
  async maintain(budgetMs = 60_000): Promise<void> {
    this.#assertOpen();
    const {patience, tables, historyMs} = this.#place;
    const deadline = patience.in(budgetMs);
    const groups = await this.#groups();
    const at = patience.clock.now();
    // What is at rest costs its share of this call.
    const keys = groups.map((group) => this.#sequencer.key(group));
    const found = await getAll(this.#place, tables.objects, keys, deadline);
    for (const [n, group] of groups.entries()) {
      const sequence = this.#sequencer.from(found.get(idOf(keys[n]!)));
      const {last, closed, compacted, swept} = sequence;
      const feed = this.#feedOf(group);
      feed.closed = Math.max(feed.closed, closed);
      if (patience.passed(deadline) || swept === last) continue;
      if (isDoubtful(this.#place, sequence)) await this.#upkeep.refresh(feed, deadline);
      else await this.#upkeep.close(feed, last, deadline, at);
      const before = patience.clock.now() - historyMs;
      if (compacted < last) await this.#upkeep.compact(feed, await this.#upkeep.lastBefore(feed, before, deadline), deadline);
      await this.#upkeep.sweepTombstones(feed, deadline);
    }
    await this.#upkeep.sweepChunks(deadline);
  }

  /** After both tables were restored to a point in time, while nobody writes: no revision that a client may have seen is used again. */
  async restored(by = 1_000_000): Promise<void> {
    this.#assertOpen();
    const deadline = this.#place.patience.in(listDeadlineMs);
    for (const group of await this.#groups()) await this.#sequencer.jump(group, by, deadline);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#poll.close();
    await Promise.allSettled(this.#underWay);
    for (const feed of this.#feeds.values()) feed.end(closedError());
  }

  async #append(write: Write, believed: Revision | undefined, looked: () => void): Promise<Stored> {
    const previous = await this.#previous(write);
    await this.#meta.add(write.type, this.#place.patience.by(write.deadline, readDeadlineMs));
    const {guard} = write;
    const check: Check = async (sequence) => {
      if (believed === undefined && !guard) return;
      // Our own reservation is the epoch's last revision, when the write is one of configuration.
      await this.#look(believed, groupOf(write.type) === epoch ? sequence.last - 1 : undefined, write.deadline);
      looked();
      if (guard && !(await guard())) throw moved();
    };
    const {group, stored, change, record, sequence} = await this.#commits.write(write, previous, check);
    const feed = this.#feedOf(group);
    feed.closed = Math.max(feed.closed, sequence.closed);
    this.#known.add(write.type, {stored, at: record.at, blob: blobOf(record.body)});
    if (!feed.offer(record, change)) this.#inBackground(feed.reach(record.revision));
    if (feed.active) this.#poll.wake();
    if (record.revision % closeEvery === 0) this.#closeSoon(feed, record.revision);
    return stored;
  }

  /** What a write replaces, at exactly the revision that it expects; from memory where this process has just seen it. */
  async #previous({type, key, expected, operation, encode: _, ...rest}: Write): Promise<Known | undefined> {
    if (rest.deadline !== undefined && rest.deadline <= this.#place.patience.clock.now()) return undefined;
    if (expected === 'absent' && operation === 'put') return undefined;
    const known = expected === 'absent' ? undefined : (this.#known.get(type, key, expected) ?? this.#lists.known(type, key, expected));
    if (known) return known;
    const current = await this.read(type, key, rest.deadline);
    if (!current) throw new StoreError('NotFound', `${type} ${key} does not exist`);
    if (expected === 'absent') throw new StoreError('Exists', `${type} ${key} exists`, {current});
    const found = this.#known.get(type, key, expected);
    if (found) return found;
    throw new StoreError('Changed', `${type} ${key} is at revision ${current.revision}, not ${expected}`, {current});
  }

  /** Reads the epoch, and brings its subscribers up to date. */
  async #look(believed: Revision | undefined, known: Revision | undefined, until?: number): Promise<void> {
    const feed = this.#feedOf(epoch);
    const last = known ?? (await this.#sequencer.read(epoch, this.#place.patience.by(until, readDeadlineMs))).last;
    await feed.reach(last);
    // By changes, not by revisions: one that was given up decides nothing, or those who give up would make each other begin again.
    if (believed !== undefined && feed.changed > believed) throw moved();
  }

  /**
   * Clients take a version of 0 for any version, so a group that was never written gets a first slot, a no-op, from whoever asks where it
   * stands: two calls, once.
   */
  async #open(group: string): Promise<Sequence> {
    const deadline = this.#place.patience.in(readDeadlineMs);
    const sequence = await this.#sequencer.reserve(group, staleMsOf(this.#place), deadline);
    if (sequence) await this.#log.fill(group, sequence.last, deadline);
    return sequence ?? this.#sequencer.read(group, deadline);
  }

  /** Somebody has read a group's state: subscribers are told what is new. */
  async #heard(feed: Feed, {last, closed}: Sequence): Promise<void> {
    feed.closed = Math.max(feed.closed, closed);
    await feed.reach(last);
    if (feed.active) this.#closeSoon(feed, feed.through ?? 0);
  }

  /** Keeps `closed` near the head, beside whatever goes on. */
  #closeSoon(feed: Feed, through: Revision): void {
    if (this.#closed || through - feed.closed < closeEvery || feed.closing) return;
    feed.closing = true;
    const closing = this.#upkeep.close(feed, through, this.#place.patience.in(readDeadlineMs)).finally(() => {
      feed.closing = false;
    });
    this.#inBackground(closing);
  }

  /** Its failure is nobody's: whoever needs it does it again. */
  #inBackground(work: Promise<unknown>): void {
    const quiet = work.catch(() => undefined).finally(() => this.#underWay.delete(quiet));
    this.#underWay.add(quiet);
  }

  async #noted(type: string, item: Item | undefined): Promise<Stored | undefined> {
    const found = await this.#bodies.storedFrom(item, this.#place.patience.in(readDeadlineMs));
    if (found?.stored) this.#known.add(type, {stored: found.stored, at: found.object.at, blob: blobOf(found.object.body!)});
    return found?.stored;
  }

  async #groups(): Promise<string[]> {
    const types = await this.#meta.types(this.#place.patience.in(readDeadlineMs));
    return [...new Set(types.map(groupOf))];
  }

  async #eachGroup<T>(work: (feed: Feed) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    for (const group of await this.#groups()) results.push(await work(this.#feedOf(group)));
    return results;
  }

  #feed(type: string): Feed {
    return this.#feedOf(groupOf(type));
  }

  #feedOf(group: string): Feed {
    let feed = this.#feeds.get(group);
    if (!feed) {
      feed = new Feed(group, this.#place, this.#log, this.#bodies);
      this.#feeds.set(group, feed);
    }
    return feed;
  }

  #objectKey(type: string, key: string): Item {
    return {pk: {S: this.#place.keys.objects(type)}, sk: {S: key}};
  }

  #assertOpen(): void {
    if (this.#closed) throw closedError();
  }
}

const stepRevisions = 512;

const closedError = (): StoreError => new StoreError('Unavailable', 'the store is closed');
const moved = (): StoreError => new StoreError('ConfigurationMoved', 'the configuration has changed meanwhile');

function assertKept(revision: Revision, {compacted}: Sequence): void {
  if (revision < compacted)
    throw new StoreError('Compacted', `revision ${revision} has been compacted; the oldest kept is ${compacted}`, {revision: compacted});
}
