/** Some of what `npm run simulate -- --engine dynamo-local` does. */

import {afterAll, beforeAll, expect, test} from 'vitest';
import {type Started, startLocalDynamo, startMs} from '../../../shared/storage/dynamo/testing/start.ts';
import {simulateLocal} from './local.ts';
import {tables} from './process.ts';

let started: Started | undefined;
beforeAll(async () => {
  started = await startLocalDynamo(tables);
}, startMs);
afterAll(() => started?.stop());

test('on DynamoDB Local, through faults and crashes, the store keeps its promises', async () => {
  const runs = Array.from({length: 8}, (_, n) => simulateLocal({seed: n + 1, client: started!.client, cluster: `c${n}`}));
  const counts = await Promise.all(runs);
  expect(counts.reduce((sum, {acknowledged}) => sum + acknowledged, 0)).toBeGreaterThan(10);
}, 120_000);
