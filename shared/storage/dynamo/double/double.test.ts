/** What the double does as DynamoDB Local does, and what no emulator shows. */

import {beforeEach, describe, expect, test} from 'vitest';
import {seededRandom} from '../../faults.ts';
import {createTables, tablesOf} from '../tables.ts';
import {DynamoDouble, honest} from './double.ts';
import type {DynamoError, Item} from './errors.ts';
import {Steps} from './steps.ts';
import {probes} from './testing/probes.ts';

const tables = tablesOf('test-');
let plain: DynamoDouble;
beforeEach(async () => {
  plain = honest();
  await createTables(plain, tables);
});
probes('the double', () => ({client: plain, tables}));

const key = (sk: string): Item => ({pk: {S: 'p'}, sk: {S: sk}});
const TableName = tables.objects;
const put = (sk: string, value: number) => ({Put: {TableName, Item: {...key(sk), v: {N: String(value)}}}});

async function troubled(seed: number, more: {throttles?: boolean} = {}) {
  const steps = new Steps();
  const double = new DynamoDouble({now: () => steps.now(), steps, random: seededRandom(seed), ...more});
  await createTables(double, tables);
  const done = async <T>(work: Promise<T>): Promise<T> => {
    let running = true;
    work
      .catch(() => undefined)
      .finally(() => {
        running = false;
      });
    await steps.run(() => running);
    return work;
  };
  return {steps, double, done};
}

/** How often something is seen in many seeds. */
async function seen(of: (seed: number) => Promise<string>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let seed = 1; seed <= 200; seed++) {
    const what = await of(seed);
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

describe('what no emulator shows', () => {
  test('part of a transaction is visible first, in any order, but not to transactions', async () => {
    const looks = await seen(async (seed) => {
      const {double, done, steps} = await troubled(seed);
      const writing = double.transactWriteItems({TransactItems: [put('a', 1), put('b', 1)]});
      const reading = steps
        .sleep(seed % 8)
        .then(() => double.batchGetItem({RequestItems: {[TableName]: {Keys: [key('a'), key('b')], ConsistentRead: true}}}));
      const together = steps.sleep(seed % 8).then(() =>
        double.transactGetItems({TransactItems: ['a', 'b'].map((sk) => ({Get: {TableName, Key: key(sk)}}))}).then(
          ({Responses}) => Responses!.filter(({Item}) => Item).length,
          (error: DynamoError) => error.name,
        ),
      );
      const [{Responses}, whole] = await done(Promise.all([reading, together, writing]));
      expect([0, 2, 'TransactionCanceledException']).toContain(whole);
      return Responses!
        [TableName]!.map(({sk}) => sk!.S)
        .sort()
        .join();
    });
    expect(Object.keys(looks).sort()).toEqual(['', 'a', 'a,b', 'b']);
  });

  test('who writes into a transaction under way is told of the conflict, and so is another transaction', async () => {
    const outcomes = await seen(async (seed) => {
      const {double, done, steps} = await troubled(seed);
      const name = (call: Promise<unknown>) =>
        call.then(
          () => 'done',
          (error: DynamoError) => error.CancellationReasons?.map(({Code}) => Code).join() ?? error.name,
        );
      const writing = name(double.transactWriteItems({TransactItems: [put('a', 1), put('b', 1)]}));
      const other = steps
        .sleep(seed % 6)
        .then(() =>
          name(seed % 2 ? double.putItem(put('a', 2).Put) : double.transactWriteItems({TransactItems: [put('b', 2), put('c', 2)]})),
        );
      return (await done(Promise.all([writing, other]))).join(' ');
    });
    expect(Object.keys(outcomes)).toEqual(
      expect.arrayContaining(['done done', 'done TransactionConflictException', 'done TransactionConflict,None']),
    );
  });

  test('a token is in progress, then done, then forgotten after ten minutes', async () => {
    const {double, done, steps} = await troubled(3);
    const request = {
      ClientRequestToken: 'once',
      TransactItems: [{Update: {TableName, Key: key('a'), UpdateExpression: 'ADD v :one', ExpressionAttributeValues: {':one': {N: '1'}}}}],
    };
    const twice = await done(Promise.allSettled([double.transactWriteItems(request), double.transactWriteItems(request)]));
    expect(twice.map((one) => (one.status === 'rejected' ? (one.reason as DynamoError).name : 'done'))).toEqual([
      'done',
      'TransactionInProgressException',
    ]);
    const value = async () => (await done(double.getItem({TableName, Key: key('a'), ConsistentRead: true}))).Item!['v']!.N;
    await done(double.transactWriteItems(request));
    expect(await value()).toBe('1');
    steps.leap(10 * 60_000 + 1);
    await done(double.transactWriteItems(request));
    expect(await value()).toBe('2');
  });

  test('a read that need not be consistent may be behind', async () => {
    const values = await seen(async (seed) => {
      const {double, done} = await troubled(seed);
      await done(double.putItem(put('a', 1).Put));
      await done(double.putItem(put('a', 2).Put));
      return (await done(double.getItem({TableName, Key: key('a')}))).Item!['v']!.N!;
    });
    expect(Object.keys(values).sort()).toEqual(['1', '2']);
  });

  test('a partition takes a thousand write units a second, transactional ones count twice', async () => {
    const {double, done, steps} = await troubled(1, {throttles: true});
    /** As many as can be asked for; how many were made. */
    const during = async (seconds: number, write: (n: number) => Promise<unknown>): Promise<number> => {
      const calls: Promise<number>[] = [];
      const end = steps.now() + seconds * 1000;
      const one = (): number => 1;
      const none = (): number => 0;
      for (let n = 0; steps.now() < end; n++) {
        calls.push(write(n).then(one, none));
        await done(steps.sleep(0.2));
      }
      return (await done(Promise.all(calls))).reduce((sum, count) => sum + count, 0);
    };
    // A second's worth is saved up.
    expect(await during(2, (n) => double.putItem(put(`${n}`, n).Put))).toBeCloseTo(3_000, -2);
    const transactions = await during(2, (n) => double.transactWriteItems({TransactItems: [put(`t${n}`, n)]}));
    expect(transactions).toBeGreaterThan(900);
    expect(transactions).toBeLessThan(1_600);
  });

  test('what has outlived its time goes late and in no order', async () => {
    const {double, done, steps} = await troubled(5);
    const ttl = {N: String(Math.floor(steps.now() / 1000) + 60)};
    for (let sk = 1; sk <= 20; sk++) await done(double.putItem({TableName: tables.log, Item: {pk: {S: 'l'}, sk: {N: String(sk)}, ttl}}));
    double.expire();
    expect(double.items(tables.log)).toHaveLength(20);
    steps.leap(61_000);
    double.expire(0.5);
    const left = double
      .items(tables.log)
      .map(({sk}) => Number(sk!.N))
      .sort((a, b) => a - b);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(20);
    expect(left).not.toEqual(left.map((_, at) => 21 - left.length + at));
    double.expire();
    expect(double.items(tables.log)).toEqual([]);
  });
});
