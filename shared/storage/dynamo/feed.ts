/**
 * The subscribers of a group in this process, and how far they have been told. Who learns that there are newer revisions (a session, a
 * poll, a question for the head) calls reach(); own commits are offered at once. When to look by itself is up to ./poll.ts.
 */

import {type Change, isStoreError, type Revision, StoreError, type Subscriber, type Subscription} from '../contract.ts';
import {Deliveries, type Delivery, type Published} from '../embedded/deliveries.ts';
import type {Bodies} from './chunks.ts';
import {type ChangeRecord, isChange, type SlotRecord} from './items.ts';
import type {Log} from './log.ts';
import {listDeadlineMs, type Place} from './place.ts';

/** Slots that are read and told in one step. */
const stepRevisions = 512;

export class Feed {
  readonly group: string;
  /** Everything up to here has been told. Undefined: nothing is known of this group yet. */
  through: Revision | undefined;
  /** The last change, fillers left out, or where knowledge of this group began: what was decided on before it may be wrong. */
  changed: Revision = 0;
  /** How far object items are known to show what the log says. */
  settledThrough: Revision = 0;
  /** How far the log is known to be closed. */
  closed: Revision = 0;
  /** Somebody is closing it. */
  closing = false;
  readonly #place: Place;
  readonly #log: Log;
  readonly #bodies: Bodies;
  readonly #deliveries = new Deliveries();
  readonly #subscriptions = new Set<Delivery>();
  #active = 0;
  /** Own commits beyond `through`, until what lies between is told. */
  readonly #ahead = new Map<Revision, {type: string; change: Change}>();
  #wanted: Revision = 0;
  #reading = false;
  /**
   * Each is answered when its own revision has been told: one that waits may be what a later slot waits for, because a write of
   * configuration looks at what is before it.
   */
  #waiting: {to: Revision; resolve(): void; reject(error: unknown): void}[] = [];

  constructor(group: string, place: Place, log: Log, bodies: Bodies) {
    this.group = group;
    this.#place = place;
    this.#log = log;
    this.#bodies = bodies;
  }

  get active(): boolean {
    return this.#active > 0;
  }

  /** Somebody listens. */
  get used(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** `last`: the group's last revision now; where nobody listened so far, telling begins there. */
  subscribe(type: string, from: Revision, last: Revision, subscriber: Subscriber, passive: boolean): Subscription {
    // `last` may be older than what is known: going back, whoever is reading now would pass over what lies between.
    if (!this.used) this.#startAt(Math.max(last, this.through ?? 0));
    const delivery = this.#deliveries.add(type, from, {
      changes: (changes, through) => subscriber.changes(changes, through),
      ended: (error) => {
        leave();
        subscriber.ended(error);
      },
    });
    const leave = (): void => {
      if (this.#subscriptions.delete(delivery) && !passive) this.#active--;
      this.#answer();
    };
    this.#subscriptions.add(delivery);
    if (!passive) this.#active++;
    setImmediate(() => void this.#catchUp(type, delivery));
    return {
      close: () => {
        leave();
        delivery.close();
      },
    };
  }

  /** A commit of this process. True when subscribers know of it now; otherwise something before it is still to be read. */
  offer(record: ChangeRecord, change: Change): boolean {
    if (this.settledThrough === record.revision - 1) this.settledThrough = record.revision;
    if (!this.used) {
      if (this.through === record.revision - 1) this.#startAt(record.revision);
      return true;
    }
    if (record.revision <= this.through!) return true;
    this.#ahead.set(record.revision, {type: record.type, change});
    this.#tellAhead();
    return record.revision <= this.through!;
  }

  /** Tells everything up to `to`, which must have been handed out. */
  async reach(to: Revision): Promise<void> {
    if (!this.used) {
      this.#startAt(Math.max(to, this.through ?? 0));
      return;
    }
    if (this.told() >= to) return;
    this.#wanted = Math.max(this.#wanted, to);
    const reached = new Promise<void>((resolve, reject) => this.#waiting.push({to, resolve, reject}));
    this.#go();
    await reached;
  }

  end(error: StoreError): void {
    this.#deliveries.endAll(error);
  }

  /** Slots of (from, to], complete, or what follows `from` without a gap; object items show what they say. */
  async records(from: Revision, to: Revision, atLeast = to): Promise<SlotRecord[]> {
    const deadline = this.#place.patience.in(listDeadlineMs);
    const records = await this.#log.complete(this.group, from, to, deadline, atLeast);
    const known = Math.max(this.settledThrough, this.closed);
    await this.#log.settled(
      records.filter(({revision}) => revision > known && !this.#ahead.has(revision)),
      deadline,
    );
    if (from <= known) this.settledThrough = Math.max(this.settledThrough, from + records.length);
    return records;
  }

  #startAt(revision: Revision): void {
    if (this.through !== revision) this.changed = revision;
    this.through = revision;
    this.#ahead.clear();
  }

  #go(): void {
    if (this.#reading) return;
    this.#reading = true;
    void this.#read();
  }

  /** Never throws: failures go to who waits. */
  async #read(): Promise<void> {
    try {
      for (;;) {
        this.#tellAhead();
        const from = this.through!;
        if (!this.used || from >= this.#wanted) return;
        const records = await this.records(from, Math.min(this.#wanted, from + stepRevisions), from + 1);
        const published = await this.#published(records);
        // Own commits may have been told meanwhile.
        this.#tell(
          published.filter(({change}) => change.revision > this.through!),
          Math.max(this.through!, from + records.length),
        );
      }
    } catch (error) {
      // Who waits has not asked for history: that some of it is gone is the subscribers' affair, who begin anew.
      const gone = isStoreError(error, 'Compacted');
      const cause = gone ? new StoreError('Unavailable', 'subscribers slept for too long, and begin anew', {cause: error}) : error;
      for (const {reject} of this.#waiting.splice(0)) reject(cause);
      if (!(error instanceof StoreError) || error.code === 'Unavailable') return;
      // Nothing can be told in order any more: they begin again from what they have.
      this.through = undefined;
      this.end(error);
    } finally {
      // In the turn that found nothing left to do: who asks afterwards starts it anew.
      this.#reading = false;
    }
  }

  /** What every subscriber has been told, those who are still catching up as well: what may be decided by. */
  told(): Revision {
    if (!this.used) return Number.POSITIVE_INFINITY;
    let told = this.through ?? Number.POSITIVE_INFINITY;
    for (const delivery of this.#subscriptions) if (!delivery.live) told = Math.min(told, delivery.through);
    return told;
  }

  #answer(): void {
    if (this.#waiting.length === 0) return;
    const told = this.told();
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({to}) => to > told);
    for (const {to, resolve} of waiting) if (to <= told) resolve();
  }

  async #published(records: readonly SlotRecord[]): Promise<Published[]> {
    const deadline = this.#place.patience.in(listDeadlineMs);
    const changes = records.filter(isChange);
    return Promise.all(
      changes.map(async (record) => ({
        type: record.type,
        change: this.#ahead.get(record.revision)?.change ?? (await this.#bodies.change(record, deadline)),
      })),
    );
  }

  #tell(published: readonly Published[], through: Revision): void {
    this.through = through;
    const last = published.at(-1);
    if (last) this.changed = last.change.revision;
    for (const revision of this.#ahead.keys()) if (revision <= through) this.#ahead.delete(revision);
    this.#deliveries.publish(published, through);
    this.#answer();
  }

  #tellAhead(): void {
    const run: Published[] = [];
    let through = this.through!;
    for (let next = this.#ahead.get(through + 1); next; next = this.#ahead.get(through + 1)) {
      run.push(next);
      through++;
    }
    if (run.length > 0) this.#tell(run, through);
  }

  /** The past of a new subscriber, until it has been told as much as the others. */
  async #catchUp(type: string, delivery: Delivery): Promise<void> {
    let told = false;
    try {
      while (!delivery.closed) {
        const {through} = this;
        if (through === undefined) throw new StoreError('Unavailable', 'the feed has begun anew');
        if (delivery.through >= through) {
          delivery.live = true;
          // It may be ahead of the others: it has listed what they have yet to be told. Who is passive would wait for ever.
          if (!told) delivery.progress(delivery.through);
          this.#answer();
          return;
        }
        const from = delivery.through;
        const records = await this.records(from, Math.min(through, from + stepRevisions), from + 1);
        const changes = await this.#bodies.changes(records, type, this.#place.patience.in(listDeadlineMs));
        told = true;
        delivery.deliver(changes, from + records.length);
        this.#answer();
      }
    } catch (error) {
      delivery.end(error instanceof StoreError ? error : new StoreError('Unavailable', 'the log could not be read', {cause: error}));
    }
  }
}
