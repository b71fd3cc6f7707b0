/**
 * The store as one request sees it: what it decides by is exact, and what it reads first came in the same round trip. The answers of
 * that round trip are used once, and not after the session has written.
 */

import type {Change, Revision, Scan, ScanOptions, Session, Store, Stored, Subscriber, Subscription, Write} from '../contract.ts';
import type {Engine} from './engine.ts';
import type {Sequence} from './sequencer.ts';

export interface Ahead {
  object?: {type: string; key: string; stored: Stored | undefined};
  sequence?: {group: string; type: string; state: Sequence};
}

export class EngineSession implements Session {
  readonly #engine: Engine;
  #ahead: Ahead;
  /** The epoch that an optimistic session believes in, until it has looked. */
  #believed: Revision | undefined;
  readonly #deadline: number | undefined;

  constructor(engine: Engine, ahead: Ahead, believed: Revision | undefined, deadline: number | undefined) {
    this.#engine = engine;
    this.#ahead = ahead;
    this.#believed = believed;
    this.#deadline = deadline;
  }

  append(write: Write): Promise<Stored> {
    this.#ahead = {};
    const deadline = earlier(write.deadline, this.#deadline);
    return this.#engine.appendIn({...write, ...(deadline !== undefined && {deadline})}, this.#believed, () => {
      this.#believed = undefined;
    });
  }

  async confirm(): Promise<void> {
    const believed = this.#believed;
    this.#believed = undefined;
    if (believed !== undefined) await this.#engine.confirm(believed, this.#deadline);
  }

  async read(type: string, key: string): Promise<Stored | undefined> {
    const {object} = this.#ahead;
    if (object?.type !== type || object.key !== key) return this.#engine.read(type, key, this.#deadline);
    this.#ahead = {};
    return object.stored;
  }

  scan(type: string, options: ScanOptions): Promise<Scan> {
    return this.#engine.scanFrom(type, options, this.#sequence(type));
  }

  head(type: string): Promise<Revision> {
    return this.#engine.headFrom(type, this.#sequence(type));
  }

  log(type: string, from: Revision, to: Revision, limit?: number): Promise<Change[]> {
    return this.#engine.log(type, from, to, limit);
  }

  subscribe(type: string, from: Revision, subscriber: Subscriber, options?: {passive?: boolean}): Promise<Subscription> {
    return this.#engine.subscribe(type, from, subscriber, options);
  }

  compactedThrough(type: string): Promise<Revision> {
    return this.#engine.compactedThrough(type);
  }

  compact(through: Revision): Promise<void> {
    return this.#engine.compact(through);
  }

  compactBefore(before: number): Promise<Revision> {
    return this.#engine.compactBefore(before);
  }

  counts(): Promise<Map<string, number>> {
    return this.#engine.counts();
  }

  fork(): Promise<Store> {
    return this.#engine.fork();
  }

  /** Sessions have nothing to close: the store goes on. */
  async close(): Promise<void> {}

  #sequence(type: string): Sequence | undefined {
    const {sequence} = this.#ahead;
    if (sequence?.type !== type) return undefined;
    this.#ahead = {};
    return sequence.state;
  }
}

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
