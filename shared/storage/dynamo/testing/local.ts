/** DynamoDB Local for the tests of a file. */

import {afterAll, beforeAll} from 'vitest';
import type {Clock} from '../../../clock.ts';
import type {DynamoCalls, TableCalls} from '../calls.ts';
import {type Tables, tablesOf} from '../tables.ts';
import {type Started, startLocalDynamo, startMs} from './start.ts';

export interface LocalDynamo {
  readonly endpoint: string;
  readonly client: DynamoCalls & TableCalls & {destroy(): void};
  readonly tables: Tables;
  /** A cluster's name that nobody else in this file has: a fresh store in the same tables. */
  cluster(): string;
}

export function localDynamo(): LocalDynamo {
  let started: Started | undefined;
  let clusters = 0;
  const tables = tablesOf('test-');
  beforeAll(async () => {
    started = await startLocalDynamo(tables);
  }, startMs);
  afterAll(() => started?.stop());
  return {
    get endpoint() {
      return started!.endpoint;
    },
    get client() {
      return started!.client;
    },
    tables,
    cluster: () => `c${++clusters}`,
  };
}

/** The time of a clock that tests move, while waiting goes on in real time, which a real database takes. */
export const timeOf = (clock: Clock): Clock => ({
  now: () => clock.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 20));
    return () => clearTimeout(timer);
  },
});
