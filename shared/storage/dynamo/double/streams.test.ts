import {expect, test} from 'vitest';
import {seededRandom} from '../../faults.ts';
import {createTables, tablesOf} from '../tables.ts';
import {DynamoDouble} from './double.ts';
import {Steps} from './steps.ts';
import {Stream, type StreamHandler, type StreamRecord} from './streams.ts';

const tables = tablesOf('test-');

async function streamed(seed: number, handler: StreamHandler, filter?: (record: StreamRecord) => boolean) {
  const steps = new Steps();
  const random = seededRandom(seed);
  const double = new DynamoDouble({now: () => steps.now(), steps, random});
  await createTables(double, tables);
  const stream = new Stream({double, table: tables.log, steps, random, handler, batchSize: 5, ...(filter && {filter})});
  const write = async (): Promise<void> => {
    for (let n = 1; n <= 60; n++)
      await double.putItem({TableName: tables.log, Item: {pk: {S: `bucket ${n % 6}`}, sk: {N: String(n)}, ttl: {N: '1'}}});
  };
  return {steps, double, stream, write};
}

const numberOf = ({dynamodb}: StreamRecord): number => Number((dynamodb.Keys as {sk: {N: string}}).sk.N);
const bucketOf = ({dynamodb}: StreamRecord): string => (dynamodb.Keys as {pk: {S: string}}).pk.S;

test('every record arrives, some of them twice, in order within a partition key only', async () => {
  const seen: StreamRecord[] = [];
  const {steps, stream, write} = await streamed(1, async ({Records}) => {
    seen.push(...Records);
    return undefined;
  });
  await write();
  await steps.run(() => !stream.idle);
  expect(new Set(seen.map(numberOf)).size).toBe(60);
  expect(seen.length).toBeGreaterThan(60);
  const first = seen.filter((record, at) => seen.findIndex((other) => other.eventID === record.eventID) === at);
  expect(first.map(numberOf)).not.toEqual([...first.map(numberOf)].sort((a, b) => a - b));
  for (let bucket = 0; bucket < 6; bucket++) {
    const numbers = first.filter((record) => bucketOf(record) === `bucket ${bucket}`).map(numberOf);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  }
});

test('shards go on side by side', async () => {
  let [underWay, most] = [0, 0];
  const {steps, stream, write} = await streamed(2, async () => {
    most = Math.max(most, ++underWay);
    await steps.sleep(1_000);
    underWay--;
    return undefined;
  });
  await write();
  await steps.run(() => !stream.idle);
  expect(most).toBeGreaterThan(1);
});

test('what fails is handed over again, from the first that failed on', async () => {
  const done: number[] = [];
  let calls = 0;
  const {steps, stream, write} = await streamed(3, async ({Records}) => {
    if (++calls % 3 === 0) throw new Error('cut off');
    const half = Math.ceil(Records.length / 2);
    done.push(...Records.slice(0, half).map(numberOf));
    return {batchItemFailures: Records.slice(half, half + 1).map(({dynamodb}) => ({itemIdentifier: dynamodb.SequenceNumber}))};
  });
  await write();
  await steps.run(() => !stream.idle);
  expect(new Set(done).size).toBe(60);
});

test('what time removes is marked, and may be filtered out', async () => {
  const seen: StreamRecord[] = [];
  const inserts = ({eventName}: StreamRecord): boolean => eventName === 'INSERT';
  const all = await streamed(4, async ({Records}) => {
    seen.push(...Records);
    return undefined;
  });
  await all.write();
  all.double.expire();
  await all.steps.run(() => !all.stream.idle);
  const removed = seen.filter(({eventName}) => eventName === 'REMOVE');
  expect(new Set(removed.map(numberOf)).size).toBe(60);
  expect(removed[0]!.userIdentity?.principalId).toBe('dynamodb.amazonaws.com');
  const some = await streamed(
    4,
    async ({Records}) => {
      expect(Records.every(inserts)).toBe(true);
      return undefined;
    },
    inserts,
  );
  await some.write();
  some.double.expire();
  await some.steps.run(() => !some.stream.idle);
});
