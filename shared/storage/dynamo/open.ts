/** How the store over DynamoDB is opened, and what can be chosen. */

import {type Clock, systemClock} from '../../clock.ts';
import type {Transform} from './body.ts';
import type {DynamoCalls} from './calls.ts';
import {Engine} from './engine.ts';
import {Keys} from './keys.ts';
import type {PollIntervals} from './poll.ts';
import {Patience} from './retry.ts';
import type {Tables} from './tables.ts';

export interface DynamoOptions {
  client: DynamoCalls;
  tables: Tables;
  /** The logical cluster within the tables. */
  cluster?: string;
  clock?: Clock;
  /** A second clock, in ms from anywhere, that nobody can set. */
  monotonic?: () => number;
  random?: () => number;
  /** How far back lists and watches may ask. */
  historyMs?: number;
  poll?: PollIntervals;
  /** Lists and objects kept in memory to make the next request cheaper. */
  cacheBytes?: number;
  /** What bytes go through on their way to the tables and back, such as an encryption. */
  transform?: Transform;
}

/** The store, and what only an engine over shared tables has to offer. */
export type DynamoStore = Engine;

const defaultHistoryMs = 3600_000;
const defaultPoll: PollIntervals = {busyMs: 50, restMs: 1_000};
const defaultCacheBytes = 32 * 1024 * 1024;
/** Twice what is served, and never less than those may sleep who began to write before: a day, and one more to be sure. */
const shortestKeepMs = 2 * 24 * 3600_000;

/** @throws StoreError NewerFormat, Unavailable */
export function openDynamo(options: DynamoOptions): Promise<DynamoStore> {
  const {client, tables, cluster = 'default', clock = systemClock, random = Math.random, historyMs = defaultHistoryMs} = options;
  const place = {
    calls: client,
    tables,
    keys: new Keys(cluster),
    patience: new Patience(clock, options.monotonic ?? (() => performance.now()), random),
    transform: options.transform,
    newAttempt: attempts(options.random),
    historyMs,
    keepMs: Math.max(2 * historyMs, shortestKeepMs),
  };
  return new Engine(place, {poll: options.poll ?? defaultPoll, cacheBytes: options.cacheBytes ?? defaultCacheBytes}).open();
}

/** 128 bits by chance; from the caller's randomness where it is to be repeated. */
function attempts(random: (() => number) | undefined): () => string {
  if (!random) return () => crypto.randomUUID();
  const word = (): string =>
    Math.floor(random() * 0x1_0000_0000)
      .toString(36)
      .padStart(7, '0');
  return () => word() + word() + word() + word();
}
