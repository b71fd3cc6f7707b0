/**
 * The subscribers of a group in this process, and how far they have been told. Who learns that there are newer revisions (a session, a
 * poll, a question for the head) calls reach(); own commits are offered at once. When to look by itself is up to ./poll.ts.
 */

import {type Change, type Revision, StoreError, type Subscriber, type Subscription} from '../contract.ts';
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
  #reaching: Promise<void> | undefined;

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
    if (!this.used) this.#startAt(last);
    const delivery = this.#deliveries.add(type, from, {
      changes: (changes, through) => subscriber.changes(changes, through),
      ended: (error) => {
        leave();
        subscriber.ended(error);
      },
    });
    const leave = (): void => {
      if (this.#subscriptions.delete(delivery) && !passive) this.#active--;
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
      if (this.through === record.revision - 1) this.through = record.revision;
      return true;
    }
    if (record.revision <= this.through!) return true;
    this.#ahead.set(record.revision, {type: record.type, change});
    if (this.#reaching) this.#wanted = Math.max(this.#wanted, record.revision);
    else this.#tellAhead();
    return record.revision <= this.through!;
  }

  /** Tells everything up to `to`, which must have been handed out. */
  async reach(to: Revision): Promise<void> {
    if (!this.used) {
      this.#startAt(Math.max(to, this.through ?? 0));
      return;
    }
    this.#wanted = Math.max(this.#wanted, to);
    while (this.used && this.through! < to) {
      this.#reaching ??= this.#read().finally(() => {
        this.#reaching = undefined;
      });
      await this.#reaching;
    }
  }

  end(error: StoreError): void {
    this.#deliveries.endAll(error);
  }

  /** Slots of (from, to], complete, and object items show what they say. */
  async records(from: Revision, to: Revision): Promise<SlotRecord[]> {
    const deadline = this.#place.patience.in(listDeadlineMs);
    const records = await this.#log.complete(this.group, from, to, deadline);
    const known = Math.max(this.settledThrough, this.closed);
    await this.#log.settled(
      records.filter(({revision}) => revision > known && !this.#ahead.has(revision)),
      deadline,
    );
    if (from <= known) this.settledThrough = Math.max(this.settledThrough, to);
    return records;
  }

  #startAt(revision: Revision): void {
    this.through = revision;
    this.#ahead.clear();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        this.#tellAhead();
        const from = this.through!;
        if (!this.used || from >= this.#wanted) return;
        const to = Math.min(this.#wanted, from + stepRevisions);
        const records = await this.records(from, to);
        this.#tell(await this.#published(records), to);
      }
    } catch (error) {
      // Nothing can be told in order any more: they begin again from what they have.
      if (error instanceof StoreError && error.code !== 'Unavailable') {
        this.through = undefined;
        this.end(error);
      }
      throw error;
    }
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
    for (const revision of this.#ahead.keys()) if (revision <= through) this.#ahead.delete(revision);
    this.#deliveries.publish(published, through);
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
          if (!told && delivery.through === through) delivery.progress(through);
          return;
        }
        const to = Math.min(through, delivery.through + stepRevisions);
        const records = await this.records(delivery.through, to);
        const changes = await this.#bodies.changes(records, type, this.#place.patience.in(listDeadlineMs));
        told = true;
        delivery.deliver(changes, to);
      }
    } catch (error) {
      delivery.end(error instanceof StoreError ? error : new StoreError('Unavailable', 'the log could not be read', {cause: error}));
    }
  }
}
