/** One process: a store on a host, and what its clients reach of it. */

import type {Clock} from '../../../shared/clock.ts';
import {type Session, type Store, StoreError, type Subscriber, type Subscription} from '../../../shared/storage/contract.ts';
import type {DynamoCalls} from '../../../shared/storage/dynamo/calls.ts';
import {type DynamoStore, openDynamo} from '../../../shared/storage/dynamo/open.ts';
import {tablesOf} from '../../../shared/storage/dynamo/tables.ts';

export const tables = tablesOf('sim-');

const longestInvocationMs = 28_000;

/** What a process runs on. */
export interface Host {
  readonly calls: DynamoCalls;
  readonly clock: Clock;
  monotonic(): number;
  /** Nothing that it began is heard of again. */
  crash(): void;
  readonly died: Promise<void>;
}

/** Its calls end when it crashes: unknown, where they might have done something. */
export class Process<H extends Host = Host> {
  readonly machine: H;
  readonly opened: Promise<DynamoStore>;
  readonly #subscribers = new Set<Subscriber>();
  /** When who asks now stops to wait for it, where somebody cuts its invocations. */
  readonly #until: () => {deadline?: number};

  constructor(machine: H, random: () => number, cluster = 'default') {
    this.machine = machine;
    const isCut = random() < 0.4;
    this.#until = () => (isCut ? {deadline: machine.clock.now() + 1_000 + random() * longestInvocationMs} : {});
    this.opened = this.#mortal('Unavailable', () =>
      openDynamo({
        client: machine.calls,
        tables,
        cluster,
        clock: machine.clock,
        monotonic: () => machine.monotonic(),
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
    const session = await this.#mortal('Unavailable', async () => (await this.opened).begin({...options, ...this.#until()}));
    return {
      ...this.#reached(async () => session),
      confirm: () => this.#mortal('Unavailable', () => session.confirm()),
    };
  }

  #reached(store: () => Promise<Store>): Store {
    const refused = <T>(work: (store: Store) => Promise<T>): Promise<T> => this.#mortal('Unavailable', async () => work(await store()));
    return {
      append: (write) => this.#mortal('OutcomeUnknown', async () => (await store()).append({...write, ...this.#until()})),
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
