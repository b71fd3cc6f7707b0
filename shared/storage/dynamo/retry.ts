/**
 * What DynamoDB's errors mean, and trying again: with full jitter, until a deadline, then Unavailable. Two clocks decide about a
 * deadline, whichever is further: a frozen machine may stop the monotonic one, and the wall clock may be set back.
 */

import type {Clock} from '../../clock.ts';
import {StoreError} from '../contract.ts';

/**
 * refused: certainly not done, may be asked again. lost: perhaps done, may be asked again where asking twice is harmless.
 * final: asking again would say the same.
 */
export type Failure = 'refused' | 'lost' | 'final';

const refusals = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'Throttling',
  'TransactionConflictException',
  'TransactionCanceledException',
]);
const losses = new Set(['InternalServerError', 'ServiceUnavailable', 'TimeoutError', 'AbortError', 'TransactionInProgressException']);

export function failureOf(error: unknown): Failure {
  const {name = '', code, $metadata} = error as {name?: string; code?: unknown; $metadata?: {httpStatusCode?: number}};
  if (refusals.has(name)) return 'refused';
  // What has a `code` comes from the socket.
  if (losses.has(name) || ($metadata?.httpStatusCode ?? 0) >= 500 || typeof code === 'string') return 'lost';
  return 'final';
}

export const isConditionFailure = (error: unknown): error is Error & {Item?: Record<string, never>} =>
  (error as Error).name === 'ConditionalCheckFailedException';

/** Full jitter: any wait up to the bound, which doubles. */
const firstWaitMs = 25;
const longestWaitMs = 1_000;
/** Requests under way at once; more would wait for a socket while their time-out runs. */
const maxRequests = 96;

export interface Deadline {
  wall: number;
  monotonic: number;
}

export class Patience {
  readonly clock: Clock;
  readonly #monotonic: () => number;
  readonly #random: () => number;
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock, monotonic: () => number, random: () => number) {
    this.clock = clock;
    this.#monotonic = monotonic;
    this.#random = random;
  }

  in(ms: number): Deadline {
    return {wall: this.clock.now() + ms, monotonic: this.#monotonic() + ms};
  }

  /** `wall`, and `ms` from now, whichever comes first. */
  by(wall: number | undefined, ms: number): Deadline {
    const left = wall === undefined ? ms : Math.min(ms, wall - this.clock.now());
    return this.in(left);
  }

  earlier(a: Deadline, b: Deadline): Deadline {
    return {wall: Math.min(a.wall, b.wall), monotonic: Math.min(a.monotonic, b.monotonic)};
  }

  passed(deadline: Deadline): boolean {
    return this.clock.now() >= deadline.wall || this.#monotonic() >= deadline.monotonic;
  }

  elapsed(): number {
    return this.#monotonic();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  /** The wait before try number `tries` + 1. */
  pause(tries: number): Promise<void> {
    return this.sleep(this.#random() * Math.min(longestWaitMs, firstWaitMs * 2 ** tries));
  }

  /** One request at its turn. */
  async once<T>(request: () => Promise<T>): Promise<T> {
    if (this.#underWay >= maxRequests) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay++;
    try {
      return await request();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#underWay--;
    }
  }

  /**
   * For requests that may be made twice. Failed conditions are the caller's.
   * @throws StoreError Unavailable at the deadline or when it is no use
   */
  async repeat<T>(deadline: Deadline, request: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.once(() => {
          // At the last moment before it leaves: a machine may have slept in any wait before.
          if (this.passed(deadline)) throw new StoreError('Unavailable', 'the time to ask the database is over');
          return request();
        });
      } catch (error) {
        if (isConditionFailure(error) || error instanceof StoreError) throw error;
        if (failureOf(error) === 'final') throw unavailable(error);
        if (this.passed(deadline)) throw unavailable(error);
      }
      await this.pause(tries);
    }
  }
}

export function unavailable(cause: unknown): StoreError {
  const {name, message} = cause as Error;
  return new StoreError('Unavailable', `the database did not do it: ${name}: ${message}`, {cause});
}
