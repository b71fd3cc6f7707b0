/**
 * The embedded store: one process owns the data, so revisions, expectations and delivery are decided here in memory, in one place
 * and one order. Queued writes are judged against what is durable plus what stands before them in their batch, the batch commits
 * as a whole, and only then does anybody (reader, subscriber, writer) learn of it.
 *
 * One counter serves all types, so `head` is the same for each of them. A superseded version is kept until its successor is
 * compacted; so the state at every revision from compactedThrough on, and each change's previousIndex, can be told.
 */

import {type Clock, systemClock} from '../../clock.ts';
import {
  type Change,
  type Revision,
  type Scan,
  type ScanOptions,
  type Store,
  type Stored,
  StoreError,
  type Subscriber,
  type Subscription,
  type Write,
} from '../contract.ts';
import type {Backing, Commit, State, Version, View} from './backing.ts';
import {Compaction, historyChunk, nextTurn} from './compaction.ts';
import {Deliveries} from './deliveries.ts';
import {judge} from './judge.ts';
import {Overlays, type UnderWay} from './overlay.ts';
import {Scanner} from './scan.ts';

export interface EngineOptions {
  clock?: Clock | undefined;
}

/** Writes of one batch: enough to make the flush cheap for each, few enough to keep the event loop responsive. */
const batchWrites = 256;
/** Batches that commit at once (memory) before others get a turn: a client that only awaits its writes must not starve timers and I/O. */
const batchesPerTurn = 64;
interface Queued {
  write: Write;
  resolve(stored: Stored): void;
  reject(error: unknown): void;
}

interface Accepted extends UnderWay {
  queued: Queued;
  /** What subscribers will be told. */
  change: Change;
}

export class Engine implements Store {
  readonly #backing: Backing;
  readonly #clock: Clock;
  readonly #deliveries = new Deliveries();
  readonly #overlays = new Overlays();
  readonly #scanner: Scanner;
  readonly #compaction: Compaction;
  #queue: Queued[] = [];
  /** Housekeeping commits; they take turns with the writers' batches. */
  #chores: (() => Promise<void> | undefined)[] = [];
  /** The batch that is being committed, in order. */
  #underWay: readonly UnderWay[] = [];
  #working = false;
  #batches = 0;
  #idle: (() => void)[] = [];
  #closed = false;
  /** Handed out so far. Ahead of the head while a batch is in flight, and after one failed: its revisions are never used again. */
  #lastRevision: Revision;
  /** Set when a failed commit left the file in another state than the one known here: only opening it anew can tell. */
  #broken: unknown;

  constructor(backing: Backing, options: EngineOptions = {}) {
    this.#backing = backing;
    this.#clock = options.clock ?? systemClock;
    this.#lastRevision = backing.state.head;
    this.#scanner = new Scanner(backing, this.#overlays);
    this.#compaction = new Compaction(
      backing,
      (prepare) => this.#commitAlone(prepare),
      () => !this.#closed && this.#broken === undefined,
    );
    // What a former process began. It goes on beside the writers; a failure shows when somebody compacts again.
    this.#compaction.sweep().catch(() => {});
  }

  append(write: Write): Promise<Stored> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closedError());
      this.#queue.push({write, resolve, reject});
      this.#wake();
    });
  }

  async read(type: string, key: string): Promise<Stored | undefined> {
    this.#assertOpen();
    // What is under way may already show in the backing; before it is published nobody hears of it.
    const underWay = this.#underWay.find((accepted) => accepted.type === type && accepted.version.stored.key === key);
    return (underWay ? underWay.current : this.#backing.view(type, false).get(key))?.stored;
  }

  async scan(type: string, options: ScanOptions): Promise<Scan> {
    this.#assertOpen();
    if (options.at !== undefined) {
      this.#assertKept(options.at);
      const {head} = this.#backing.state;
      if (options.at > head) throw new StoreError('Future', `revision ${options.at} is newer than ${head}`, {revision: head});
    }
    return this.#scanner.scan(type, options, this.#underWay);
  }

  async head(_type: string): Promise<Revision> {
    this.#assertOpen();
    return this.#backing.state.head;
  }

  async log(type: string, from: Revision, to: Revision, limit = Number.POSITIVE_INFINITY): Promise<Change[]> {
    this.#assertOpen();
    this.#assertKept(from);
    const view = this.#backing.view(type, true);
    try {
      const changes: Change[] = [];
      let turn = 0;
      for (const version of view.history(from, Math.min(to, this.#backing.state.head))) {
        if (changes.length >= limit) break;
        changes.push(changeOf(version, view));
        if (++turn % historyChunk === 0) await nextTurn();
      }
      return changes;
    } finally {
      view.release();
    }
  }

  async subscribe(type: string, from: Revision, subscriber: Subscriber): Promise<Subscription> {
    this.#assertOpen();
    this.#assertKept(from);
    const delivery = this.#deliveries.add(type, from, subscriber);
    // Not in this turn: the caller has no subscription in hand yet.
    setImmediate(() => this.#catchUp(type, delivery));
    return delivery;
  }

  async compactedThrough(_type: string): Promise<Revision> {
    this.#assertOpen();
    return this.#backing.state.compactedThrough;
  }

  async compact(through: Revision): Promise<void> {
    this.#assertOpen();
    await this.#compaction.through(through);
    this.#overlays.dropBelow(this.#backing.state.compactedThrough);
  }

  async compactBefore(before: number): Promise<Revision> {
    this.#assertOpen();
    await this.compact(await this.#compaction.lastBefore(before));
    return this.#backing.state.compactedThrough;
  }

  async counts(): Promise<Map<string, number>> {
    this.#assertOpen();
    return new Map([...this.#backing.types()].filter(([, count]) => count > 0));
  }

  async fork(): Promise<Store> {
    this.#assertOpen();
    return new Engine(this.#backing.fork(), {clock: this.#clock});
  }

  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      if (this.#working) await new Promise<void>((resolve) => this.#idle.push(resolve));
      this.#deliveries.endAll(closedError());
      await this.#backing.close();
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw closedError();
  }

  #assertKept(revision: Revision): void {
    const {compactedThrough} = this.#backing.state;
    if (revision < compactedThrough) throw compactedError(revision, compactedThrough);
  }

  #wake(): void {
    if (this.#working) return;
    this.#working = true;
    void this.#work();
  }

  /** One batch after the other until nothing is queued. Never throws: failures go to the writers. */
  async #work(): Promise<void> {
    // Whoever writes in the same turn joins the first batch.
    if (this.#backing.grouped || ++this.#batches % batchesPerTurn === 0) await nextTurn();
    while (this.#queue.length > 0 || this.#chores.length > 0) {
      const chore = this.#chores.shift();
      if (chore) {
        const pending = chore();
        if (pending) await pending;
      }
      const batch = this.#queue.length <= batchWrites ? this.#queue : this.#queue.slice(0, batchWrites);
      this.#queue = batch === this.#queue ? [] : this.#queue.slice(batchWrites);
      if (batch.length > 0) {
        const pending = this.#commitBatch(batch);
        if (pending) {
          await pending;
          // Writers that were just answered get to queue their next write: one full batch instead of two halves in turn.
          await nextTurn();
        }
      }
    }
    this.#working = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #commitBatch(batch: Queued[]): Promise<void> | undefined {
    const accepted: Accepted[] = [];
    const refused: {queued: Queued; error: unknown}[] = [];
    const pendingVersions = new Map<string, Version>();
    const now = this.#clock.now();
    for (const queued of batch) {
      const {write} = queued;
      if (this.#broken !== undefined) {
        queued.reject(new StoreError('Unavailable', 'the store failed to write and must be opened anew', {cause: this.#broken}));
        continue;
      }
      if (write.deadline !== undefined && write.deadline <= now) {
        queued.reject(new StoreError('Unavailable', 'the deadline passed before the write was attempted'));
        continue;
      }
      const id = `${write.type}\0${write.key}`;
      const pendingBefore = pendingVersions.get(id);
      try {
        const before = pendingBefore ?? this.#backing.view(write.type, false).get(write.key);
        const current = before?.operation === 'delete' ? undefined : before;
        const version = judge(write, current, this.#lastRevision + 1, now);
        this.#lastRevision = version.stored.revision;
        pendingVersions.set(id, version);
        accepted.push({queued, type: write.type, version, current, change: changeFrom(version, current)});
      } catch (error) {
        // A refusal tells of what it was judged against: of a write in this batch nobody may hear before it is durable.
        if (pendingBefore) refused.push({queued, error});
        else queued.reject(error);
      }
    }
    if (accepted.length === 0) return undefined;
    const publish = (): void => {
      this.#underWay = [];
      this.#deliveries.publish(accepted, this.#backing.state.head);
      for (const {queued, version} of accepted) queued.resolve(version.stored);
      for (const {queued, error} of refused) queued.reject(error);
    };
    const fail = (cause: unknown): void => {
      this.#underWay = [];
      const code = this.#afterFailure(cause);
      for (const {queued} of accepted) queued.reject(new StoreError(code, 'the write could not be made durable', {cause}));
      for (const {queued} of refused) queued.reject(new StoreError('Unavailable', 'a write before this one failed', {cause}));
    };
    this.#underWay = accepted;
    const state: State = {...this.#backing.state, head: this.#lastRevision};
    return this.#backing.commit({versions: accepted, forget: [], state}, publish)?.catch(fail);
  }

  /** A failed commit left no trace, or nobody can say; and then writing goes on only from the state that is known. */
  #afterFailure(error: unknown): 'Unavailable' | 'OutcomeUnknown' {
    if (!this.#backing.isUsable()) this.#broken = error;
    return this.#backing.isUntouched(error) ? 'Unavailable' : 'OutcomeUnknown';
  }

  #commitAlone(prepare: () => Commit | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#chores.push(() => {
        const commit = this.#broken === undefined ? prepare() : undefined;
        if (!commit) return void resolve();
        return this.#backing.commit(commit, resolve)?.catch((error: unknown) => {
          reject(new StoreError(this.#afterFailure(error), 'housekeeping could not be made durable', {cause: error}));
        });
      });
      this.#wake();
    });
  }

  /** Past changes a chunk per turn; the turn that reads up to the head also goes live, so nothing falls between. */
  async #catchUp(type: string, delivery: ReturnType<Deliveries['add']>): Promise<void> {
    let told = false;
    while (!delivery.closed) {
      const {head, compactedThrough} = this.#backing.state;
      if (delivery.through >= head) {
        delivery.live = true;
        // Says how far the past reached, so that subscribers of a quiet type know that they are live.
        if (!told && delivery.through === head) delivery.progress(head);
        return;
      }
      if (delivery.through < compactedThrough) return delivery.end(compactedError(delivery.through, compactedThrough));
      const view = this.#backing.view(type, false);
      const changes: Change[] = [];
      for (const version of view.history(delivery.through, head)) {
        changes.push(changeOf(version, view));
        if (changes.length === historyChunk) break;
      }
      view.release();
      told = true;
      delivery.deliver(changes, changes.length === historyChunk ? changes.at(-1)!.revision : head);
      if (changes.length === historyChunk) await nextTurn();
    }
  }
}

function changeFrom(version: Version, previous: Version | undefined): Change {
  const {stored, operation, previousRevision, time} = version;
  const change: Change = {
    key: stored.key,
    revision: stored.revision,
    image: stored.image,
    index: stored.index,
    operation,
    previousRevision,
    time,
  };
  if (previous) {
    change.previousIndex = previous.stored.index;
    change.previousImage = previous.stored.image;
  }
  return change;
}

const changeOf = (version: Version, view: View): Change =>
  changeFrom(version, version.previousRevision === 0 ? undefined : view.version(version.previousRevision));

const closedError = (): StoreError => new StoreError('Unavailable', 'the store is closed');

const compactedError = (revision: Revision, compactedThrough: Revision): StoreError =>
  new StoreError('Compacted', `revision ${revision} has been compacted; the oldest kept is ${compactedThrough}`, {
    revision: compactedThrough,
  });
