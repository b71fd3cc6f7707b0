/**
 * Several processes over one database, in virtual time: each a store on a machine of its own. What the database was made to hold is
 * kept as the truth, as soon as it shows, because the log itself forgets.
 */

import type {Change, Index, Revision, Session, Store, Subscriber, Subscription} from '../../../shared/storage/contract.ts';
import {StoreError} from '../../../shared/storage/contract.ts';
import {unpack} from '../../../shared/storage/dynamo/body.ts';
import {DynamoDouble, type Written} from '../../../shared/storage/dynamo/double/double.ts';
import type {Item} from '../../../shared/storage/dynamo/double/errors.ts';
import {Machine} from '../../../shared/storage/dynamo/double/machine.ts';
import type {Steps} from '../../../shared/storage/dynamo/double/steps.ts';
import {type Body, isChange, recordFrom} from '../../../shared/storage/dynamo/items.ts';
import {groupOf} from '../../../shared/storage/dynamo/keys.ts';
import {type DynamoStore, openDynamo} from '../../../shared/storage/dynamo/open.ts';
import {createTables, tablesOf} from '../../../shared/storage/dynamo/tables.ts';
import {broken, type History} from '../history.ts';

export const tables = tablesOf('sim-');

/** Everything that was ever written to the log, by the time at which it showed. */
export class Truth {
  readonly #slots = new Map<string, Item>();
  readonly #chunks = new Map<string, Uint8Array>();

  note({table, keys, old, item, expired}: Written): void {
    const id = `${keys['pk']!.S} ${keys['sk']!.S ?? keys['sk']!.N}`;
    const chunk = item?.['bytes']?.B;
    if (chunk && table === tables.objects && id.includes('|c|')) this.#chunks.set(id, chunk);
    if (table !== tables.log) return;
    if (!item) {
      if (!expired) broken('records are deleted by nobody', {id});
      return;
    }
    if (old || this.#slots.has(id)) broken('a slot is written once', {id, item});
    this.#slots.set(id, item);
  }

  /** In each group, which slots were written. */
  slots(): Map<string, Set<Revision>> {
    const slots = new Map<string, Set<Revision>>();
    for (const item of this.#slots.values()) {
      const group = item['pk']!.S!.split('|')[2]!;
      const written = slots.get(group) ?? new Set();
      slots.set(group, written.add(Number(item['sk']!.N)));
    }
    return slots;
  }

  archive(history: History, types: readonly string[]): void {
    for (const type of types) history.archive.set(type, []);
    for (const item of this.#slots.values()) {
      const record = recordFrom(item);
      if (!isChange(record)) continue;
      const {key, revision, operation, previousRevision, previous, at: time} = record;
      const {image, index} = this.#content(record.body);
      const previousIndex: Index | undefined =
        previous && ('index' in previous ? unpack(previous.index).index : this.#content(previous.body).index);
      const change: Change = {key, revision, image, index, operation, previousRevision, time, ...(previousIndex && {previousIndex})};
      history.archive.get(record.type)!.push(change);
    }
    for (const changes of history.archive.values()) changes.sort((a, b) => a.revision - b.revision);
  }

  #content(body: Body) {
    if ('bytes' in body) return unpack(body.bytes);
    const {attempt, chunks} = body.blob;
    return unpack(Buffer.concat(Array.from({length: chunks}, (_, n) => this.#chunks.get(`default|c|${attempt}|${n} c`)!)));
  }
}

export class World {
  readonly double: DynamoDouble;
  readonly truth = new Truth();
  readonly processes: Process[] = [];
  failure: unknown;
  /** For all machines, also those to come. */
  #trouble: Pick<Machine, 'rates' | 'slownessMs'> | undefined;
  readonly steps: Steps;
  readonly #random: () => number;

  constructor(steps: Steps, random: () => number, trace: ((line: string) => void) | undefined) {
    this.steps = steps;
    this.#random = random;
    const pages = random() < 0.5 ? 1 : 20;
    this.double = new DynamoDouble({
      now: () => steps.now(),
      steps,
      random,
      throttles: random() < 0.3,
      // Pages of few items, so that lists have several.
      pageBytes: () => Math.floor(random() * 1_000 * pages),
    });
    this.double.onWrite((written) => {
      trace?.(told(written, steps.now()));
      try {
        this.truth.note(written);
      } catch (error) {
        // Whoever wrote it would take it for an answer of the database.
        this.failure ??= error;
      }
    });
  }

  async open(processes: number): Promise<void> {
    await createTables(this.double, tables);
    for (let n = 0; n < processes; n++) this.processes.push(new Process(this.machine(), this.#random));
  }

  machine(): Machine {
    const random = this.#random;
    const machine = new Machine({
      steps: this.steps,
      double: this.double,
      random,
      skewMs: Math.round((random() - 0.5) * 60_000),
      stopsWhenFrozen: random() < 0.5,
    });
    Object.assign(machine, this.#trouble);
    return machine;
  }

  trouble(trouble: Pick<Machine, 'rates' | 'slownessMs'>): void {
    this.#trouble = trouble;
    for (const {machine} of this.processes) Object.assign(machine, trouble);
  }

  /** Another process in the place of one that is gone. */
  replace(n: number): void {
    this.processes[n]!.crash();
    this.processes[n] = new Process(this.machine(), this.#random);
  }

  any(): Process {
    return this.processes[Math.floor(this.#random() * this.processes.length)]!;
  }

  /** What no trouble may leave behind: slots that nobody wrote, below what a list has told and above what was given up. */
  checkLog(type: string, through: Revision): void {
    const slots = this.truth.slots().get(groupOf(type)) ?? new Set();
    const sequencer = this.double.items(tables.objects).find(({pk}) => pk!.S === `default|s|${groupOf(type)}`);
    for (let revision = Number(sequencer?.['compacted']?.N ?? 0) + 1; revision <= through; revision++)
      if (!slots.has(revision)) broken('what was listed is closed', {type, revision, through});
  }
}

/** A write on a line, bodies left out. */
function told({table, keys, item, expired}: Written, now: number): string {
  const values = Object.entries(item ?? {}).filter(([name, value]) => !(name in keys) && !value.B);
  const rest = values.map(([name, value]) => `${name}=${Object.values(value).join()}`).join(' ');
  return `${now.toFixed(0)} ${table} ${keys['pk']!.S} ${keys['sk']!.S ?? keys['sk']!.N} ${item ? rest : expired ? 'expired' : 'deleted'}`;
}

/** One process. Its calls end when it crashes: unknown, where they might have done something. */
export class Process {
  readonly machine: Machine;
  readonly opened: Promise<DynamoStore>;
  readonly #subscribers = new Set<Subscriber>();

  constructor(machine: Machine, random: () => number) {
    this.machine = machine;
    this.opened = this.#mortal('Unavailable', () =>
      openDynamo({
        client: machine.calls,
        tables,
        clock: machine.clock,
        monotonic: machine.monotonic,
        random,
        poll: {busyMs: 50, restMs: 1_000},
        cacheBytes: random() < 0.3 ? 2_000 : 1_000_000,
      }),
    );
    this.opened.catch(() => undefined);
  }

  crash(): void {
    this.machine.crash();
    for (const subscriber of this.#subscribers) subscriber.ended(new StoreError('Unavailable', 'the process crashed'));
    this.#subscribers.clear();
  }

  /** The parts of the store that clients use. */
  get store(): Store {
    return this.#reached(() => this.opened);
  }

  async begin(options: Parameters<NonNullable<Store['begin']>>[0]): Promise<Session> {
    const session = await this.#mortal('Unavailable', async () => (await this.opened).begin(options));
    return {
      ...this.#reached(async () => session),
      confirm: () => this.#mortal('Unavailable', () => session.confirm()),
    };
  }

  #reached(store: () => Promise<Store>): Store {
    const refused = <T>(work: (store: Store) => Promise<T>): Promise<T> => this.#mortal('Unavailable', async () => work(await store()));
    return {
      append: (write) => this.#mortal('OutcomeUnknown', async () => (await store()).append(write)),
      read: (type, key) => refused((to) => to.read(type, key)),
      scan: (type, options) => refused((to) => to.scan(type, options)),
      head: (type) => refused((to) => to.head(type)),
      log: (type, from, end, limit) => refused((to) => to.log(type, from, end, limit)),
      subscribe: (type, from, subscriber, options) => refused((to) => this.#subscribe(to, type, from, subscriber, options)),
      compactedThrough: (type) => refused((to) => to.compactedThrough(type)),
      compact: (through) => refused((to) => to.compact(through)),
      compactBefore: (before) => refused((to) => to.compactBefore(before)),
      counts: () => refused((to) => to.counts()),
      fork: () => refused((to) => to.fork()),
      close: async () => {},
    };
  }

  async #subscribe(store: Store, ...[type, from, subscriber, options]: Parameters<Store['subscribe']>): Promise<Subscription> {
    const relay: Subscriber = {
      changes: (changes, through) => subscriber.changes(changes, through),
      ended: (error) => {
        if (this.#subscribers.delete(relay)) subscriber.ended(error);
      },
    };
    this.#subscribers.add(relay);
    try {
      const subscription = await store.subscribe(type, from, relay, options);
      return {
        close: () => {
          this.#subscribers.delete(relay);
          subscription.close();
        },
      };
    } catch (error) {
      this.#subscribers.delete(relay);
      throw error;
    }
  }

  #mortal<T>(code: 'Unavailable' | 'OutcomeUnknown', work: () => Promise<T>): Promise<T> {
    const died = this.machine.died.then(() => {
      throw new StoreError(code, 'the process crashed');
    });
    return Promise.race([work(), died]);
  }
}
