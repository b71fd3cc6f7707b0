import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {Environment, type Host} from './environment.ts';
import type {FunctionConfig} from './function-config.ts';
import {Pool, Throttled} from './pool.ts';
import type {FunctionError, Prelude} from './runtime-api.ts';
import {StartGate} from './start-gate.ts';

const runtimeClient = fileURLToPath(new URL('./testing/runtime.mjs', import.meta.url));
let folder: string;
let pools: Pool[];
let alive: Set<number>;
let gate: StartGate;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-'));
  pools = [];
  alive = new Set();
  gate = new StartGate(2);
});

afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  expect([...alive]).toEqual([]);
  rmSync(folder, {recursive: true});
});

function poolOf(config: Partial<FunctionConfig> = {}, most = 4): Pool {
  const host: Host = {
    node: process.execPath,
    runtimeClient,
    variables: {},
    logFile: (name) => join(folder, name),
    started: (pid) => alive.add(pid),
    ended: (pid) => alive.delete(pid),
  };
  const whole: FunctionConfig = {
    name: 'get',
    arn: 'arn:aws:lambda:us-east-1:000000000000:function:get',
    handler: 'index.handler',
    memoryMb: 128,
    timeoutMs: 29_000,
    variables: {},
    revision: '1',
    reservedConcurrency: undefined,
    ...config,
  };
  const pool = new Pool({start: () => new Environment(whole, folder, host), reserved: whole.reservedConcurrency, most, gate});
  pools.push(pool);
  return pool;
}

const event = (value: object): Uint8Array => Buffer.from(JSON.stringify(value));
async function ask(pool: Pool, value: object): Promise<{pid: number; invocations: number; name: string; event: object}> {
  return JSON.parse((await pool.invoke(event(value))).payload.toString());
}
const failure = (promise: Promise<unknown>): Promise<FunctionError> =>
  promise.then(
    () => {
      throw new Error('it succeeded');
    },
    (error) => error,
  );

test('an invocation gets what the handler returned; the next one finds the same environment, thawed', async () => {
  const pool = poolOf();
  const first = await ask(pool, {a: 'ü'});
  expect(first).toMatchObject({name: 'get', handler: 'index.handler', event: {a: 'ü'}, invocations: 1});
  await frozen(pool);
  expect(await ask(pool, {})).toMatchObject({pid: first.pid, invocations: 2});
  expect(pool.coldStarts).toBe(1);
});

test('two invocations at a time take two environments', async () => {
  const pool = poolOf();
  const [one, other] = await Promise.all([ask(pool, {}), ask(pool, {})]);
  expect(one.pid).not.toBe(other.pid);
});

test('more than the machine bears wait for one another', async () => {
  const pool = poolOf({}, 1);
  const answers = await Promise.all([ask(pool, {}), ask(pool, {}), ask(pool, {})]);
  expect(answers.map(({invocations}) => invocations)).toEqual([1, 2, 3]);
});

test('who waits for a start takes what comes free first', async () => {
  gate = new StartGate(1);
  const pool = poolOf();
  const answers = await Promise.all(Array.from({length: 20}, () => ask(pool, {})));
  expect(answers).toHaveLength(20);
  expect(pool.coldStarts).toBeLessThanOrEqual(4);
});

test('more than the reservation are throttled', async () => {
  const pool = poolOf({reservedConcurrency: 1});
  const first = ask(pool, {});
  expect(await failure(ask(pool, {}))).toBeInstanceOf(Throttled);
  await first;
});

test('an error of the handler has its type and words', async () => {
  const error = await failure(ask(poolOf(), {do: 'throw'}));
  expect(error).toMatchObject({type: 'TypeError', message: 'it broke'});
});

test('a process that ends in the middle fails its invocation, and the next one starts another', async () => {
  const pool = poolOf();
  expect(await failure(ask(pool, {do: 'exit'}))).toMatchObject({
    type: 'Runtime.ExitError',
    message: 'Runtime exited with error: exit status 3',
  });
  expect(await ask(pool, {})).toMatchObject({invocations: 1});
});

test('a frozen environment that is taken away is not met again', async () => {
  const pool = poolOf();
  const {pid} = await ask(pool, {});
  const environment = await frozen(pool);
  environment.kill();
  await environment.gone;
  expect((await ask(pool, {})).pid).not.toBe(pid);
});

test('a handler that takes too long is ended', async () => {
  const error = await failure(ask(poolOf({timeoutMs: 50}), {do: 'hang'}));
  expect(error).toMatchObject({type: 'Sandbox.Timedout', message: 'Task timed out after 0.05 seconds'});
});

test('a handler that cannot be loaded says so', async () => {
  expect(await failure(ask(poolOf({handler: 'broken'}), {}))).toMatchObject({
    type: 'Runtime.ImportModuleError',
    message: 'no such handler',
  });
});

test('a stream arrives as its metadata, then piece by piece', async () => {
  let head: Prelude | undefined;
  const pieces: string[] = [];
  const answer = await poolOf().invoke(event({do: 'stream'}), {
    head: (prelude) => {
      head = prelude;
    },
    data: (piece) => pieces.push(piece.toString()),
  });
  expect(head).toEqual({statusCode: 201, headers: {'x-a': 'b'}});
  expect(pieces.join('')).toBe('one two');
  expect(answer.streamed).toBe(true);
});

test('a stream that breaks fails with what the trailers say', async () => {
  const sink = {head() {}, data() {}};
  expect(await failure(poolOf().invoke(event({do: 'break'}), sink))).toMatchObject({type: 'Error', message: 'half way'});
});

async function frozen(pool: Pool): Promise<Environment> {
  const environment = pool.environments[0]!;
  await expect.poll(() => environment.frozen, {interval: 1}).toBe(true);
  return environment;
}
