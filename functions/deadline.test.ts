/** A buffered function has an end: what a write does until then, and nothing after it. */
import {beforeEach, expect, test, vi} from 'vitest';
import type {DynamoDouble} from '../shared/storage/dynamo/double/double.ts';
import {throughputExceeded} from '../shared/storage/dynamo/double/errors.ts';
import {Steps} from '../shared/storage/dynamo/double/steps.ts';
import type {RestHandler} from './kit/rest.ts';

const aSecondMs = 1_000;
let kit: typeof import('./kit/testing.ts');
let time: Steps;
let double: DynamoDouble;
let create: RestHandler;

beforeEach(async () => {
  vi.resetModules();
  kit = await import('./kit/testing.ts');
  time = new Steps();
  ({double} = await kit.installTables({clock: time}));
  ({handler: create} = (await import('./create.ts')) as {handler: RestHandler});
}, 60_000);

/** With so much left of the invocation. */
async function make(name: string, remainingMs: number) {
  const body = {kind: 'Namespace', apiVersion: 'v1', metadata: {name}};
  const event = kit.restEvent('POST', '/api/v1/namespaces', {headers: {'Content-Type': 'application/json'}, body});
  let answered = false;
  const answer = create(event, {getRemainingTimeInMillis: () => remainingMs}).finally(() => {
    answered = true;
  });
  // What others of its parts wait for in real time is waited for as well.
  while (!answered) if (!(await time.run(() => !answered))) await new Promise((resolve) => setImmediate(resolve));
  const {statusCode, headers} = await answer;
  return {statusCode, retryAfter: headers['retry-after'] ?? headers['Retry-After']};
}

test('a write that is throttled until its invocation ends is refused before that, and not tried any more', async () => {
  expect(await make('first', 29 * aSecondMs)).toMatchObject({statusCode: 201});
  const {transactWriteItems} = double;
  const tries: number[] = [];
  double.transactWriteItems = async () => {
    tries.push(time.now());
    throw throughputExceeded();
  };
  const end = time.now() + 8 * aSecondMs;
  expect(await make('second', 8 * aSecondMs)).toEqual({statusCode: 429, retryAfter: '1'});
  expect(time.now()).toBeLessThan(end);
  expect(tries.length).toBeGreaterThan(3);
  // Time for finding out what became of it, for the answer, and for its way.
  expect(Math.max(...tries)).toBeLessThan(end - 3 * aSecondMs);
  double.transactWriteItems = transactWriteItems;
  await time.run(() => time.now() < end + 60 * aSecondMs);
  expect(await make('second', 29 * aSecondMs)).toMatchObject({statusCode: 201});
});
