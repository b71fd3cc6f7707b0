/**
 * A store that misbehaves within its contract, from a seed: answers come late and in another order, get lost (OutcomeUnknown), calls
 * are refused (Unavailable), subscriptions end. And `patient`, the caller that copes with it; the contract suite run over
 * `patient(faulty(store))` shows that a caller can.
 */

import {
  type Change,
  isStoreError,
  type Revision,
  type Store,
  StoreError,
  type Subscriber,
  type Subscription,
  type Write,
} from './contract.ts';

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** How often, out of one. */
export interface FaultRates {
  unavailable: number;
  lostAnswer: number;
  /** A subscription ends at a delivery. */
  endedSubscription: number;
  /** Turns of the event loop by which an answer or a delivery is late, at most. */
  lateTurns: number;
}

export const someFaults: FaultRates = {unavailable: 0.1, lostAnswer: 0.1, endedSubscription: 0.1, lateTurns: 4};

export function faulty(store: Store, seed: number, rates: FaultRates = someFaults): Store {
  const random = seededRandom(seed);
  const late = async (): Promise<void> => {
    for (let turns = Math.floor(random() * (rates.lateTurns + 1)); turns > 0; turns--) await nextTurn();
  };
  const call = async <T>(work: () => Promise<T>): Promise<T> => {
    await late();
    if (random() < rates.unavailable) throw new StoreError('Unavailable', 'injected: nothing happened');
    try {
      return await work();
    } finally {
      await late();
    }
  };
  return {
    append: (write) =>
      call(async () => {
        const stored = await store.append(write);
        if (random() < rates.lostAnswer) throw new StoreError('OutcomeUnknown', 'injected: the answer was lost');
        return stored;
      }),
    read: (type, key) => call(() => store.read(type, key)),
    scan: (type, options) => call(() => store.scan(type, options)),
    head: (type) => call(() => store.head(type)),
    log: (type, from, to, limit) => call(() => store.log(type, from, to, limit)),
    async subscribe(type, from, subscriber) {
      const delivery = new LateDelivery(subscriber, late, () => random() < rates.endedSubscription);
      delivery.follow(await call(() => store.subscribe(type, from, delivery)));
      setImmediate(() => delivery.start());
      return delivery;
    },
    compactedThrough: (type) => call(() => store.compactedThrough(type)),
    compact: (through) => call(() => store.compact(through)),
    compactBefore: (before) => call(() => store.compactBefore(before)),
    counts: () => call(() => store.counts()),
    fork: () => call(() => store.fork()),
    close: () => store.close(),
  };
}

/** Late, but in order. */
class LateDelivery implements Subscriber, Subscription {
  readonly #subscriber: Subscriber;
  readonly #late: () => Promise<void>;
  readonly #ends: () => boolean;
  #inner: Subscription | undefined;
  #closed = false;
  /** Resolves `#last`'s first link: nothing is delivered before the caller has its subscription. */
  start!: () => void;
  #last = new Promise<void>((resolve) => {
    this.start = resolve;
  });

  constructor(subscriber: Subscriber, late: () => Promise<void>, ends: () => boolean) {
    this.#subscriber = subscriber;
    this.#late = late;
    this.#ends = ends;
  }

  follow(inner: Subscription): void {
    this.#inner = inner;
  }

  changes(changes: readonly Change[], through: Revision): void {
    this.#next(() => {
      this.#subscriber.changes(changes, through);
      if (!this.#ends()) return;
      this.close();
      this.#subscriber.ended(new StoreError('Unavailable', 'injected: the subscription ended'));
    });
  }

  ended(error: StoreError): void {
    this.#next(() => this.#subscriber.ended(error));
  }

  close(): void {
    this.#closed = true;
    this.#inner?.close();
  }

  #next(deliver: () => void): void {
    this.#last = this.#last.then(this.#late).then(() => {
      if (this.#closed) return;
      try {
        deliver();
      } catch (cause) {
        this.close();
        this.#subscriber.ended(new StoreError('Unavailable', 'the subscriber failed', {cause}));
      }
    });
  }
}

const patientTries = 50;

/** Tries again what was refused, finds out about what was lost, resumes what ended. */
export function patient(store: Store): Store {
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (!isStoreError(error, 'Unavailable') || tries === patientTries || error.message.includes('closed')) throw error;
      }
    }
  };
  return {
    append: (write) => appendPatiently(store, write, again),
    read: (type, key) => again(() => store.read(type, key)),
    scan: (type, options) => again(() => store.scan(type, options)),
    head: (type) => again(() => store.head(type)),
    log: (type, from, to, limit) => again(() => store.log(type, from, to, limit)),
    subscribe: (type, from, subscriber) => subscribePatiently(store, type, from, subscriber, again),
    compactedThrough: (type) => again(() => store.compactedThrough(type)),
    compact: (through) => again(() => store.compact(through)),
    compactBefore: (before) => again(() => store.compactBefore(before)),
    counts: () => again(() => store.counts()),
    fork: () => again(() => store.fork()),
    close: () => store.close(),
  };
}

type Again = <T>(work: () => Promise<T>) => Promise<T>;

async function appendPatiently(store: Store, write: Write, again: Again) {
  const attempted = new Set<Revision>();
  const encode = (revision: Revision): Uint8Array => {
    attempted.add(revision);
    return write.encode(revision);
  };
  for (;;) {
    try {
      // A deadline is the caller's word that trying again is not wanted.
      const attempt = (): ReturnType<Store['append']> => store.append({...write, encode});
      return await (write.deadline === undefined ? again(attempt) : attempt());
    } catch (error) {
      if (!isStoreError(error, 'OutcomeUnknown')) throw error;
      for (const revision of attempted) {
        const [change] = await again(() => store.log(write.type, revision - 1, revision));
        // The log says who used the revision; a key is not enough, but a key and this image are.
        if (change?.key === write.key && Buffer.compare(change.image, write.encode(revision)) === 0)
          return {key: change.key, revision, image: change.image, index: change.index};
      }
    }
  }
}

async function subscribePatiently(store: Store, type: string, from: Revision, subscriber: Subscriber, again: Again): Promise<Subscription> {
  let reached = from;
  let closed = false;
  let current: Subscription | undefined;
  const relay: Subscriber = {
    changes(changes, through) {
      if (closed) return;
      reached = Math.max(reached, through);
      subscriber.changes(changes, through);
    },
    ended(error) {
      if (closed) return;
      if (error.code !== 'Unavailable' || error.message.includes('closed')) return subscriber.ended(error);
      void connect().catch((reason: unknown) => {
        if (!closed && reason instanceof StoreError) subscriber.ended(reason);
      });
    },
  };
  const connect = async (): Promise<void> => {
    current = await again(() => store.subscribe(type, reached, relay));
    if (closed) current.close();
  };
  await connect();
  return {
    close() {
      closed = true;
      current?.close();
    },
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
