/**
 * The load client's own process: takes jobs from its parent, one after the other, and answers with what it measured. The loops are
 * closed (a worker sends when its last answer is in), but for the watch, whose writes come at a fixed rate.
 */
import type {Connection, Target} from './connection.ts';
import {connections} from './connections.ts';
import {cpuSeconds} from './processes.ts';

export interface Job extends Target {
  op: 'get' | 'list' | 'create' | 'update' | 'watch' | 'fill' | 'rewrite';
  /** Processes whose CPU time is told. */
  pids: readonly number[];
  workers: number;
  seconds: number;
  warmSeconds: number;
  /** Bytes of each ConfigMap as sent. */
  size: number;
  /** list: objects in the collection; update: objects in all; fill: objects to make; rewrite: updates to do. */
  count: number;
  watchers: number;
  writesPerSecond: number;
  /** A fresh one, deleted after, when absent. */
  namespace?: string;
  /** Appended to the path of a list. */
  query?: string;
}

export interface Result {
  opsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMsPerOp?: number;
  failed: number;
  /** Of the first failure. */
  error?: string;
}

/** What a job measures with, in the namespace that it may use. */
interface Bench {
  job: Job;
  clients: Connection[];
  path(name?: string): string;
}

async function run(job: Job): Promise<Result> {
  const clients = await connections(job, job.workers);
  const namespace = job.namespace ?? `bench-${Date.now().toString(36)}`;
  const base = `/api/v1/namespaces/${namespace}/configmaps`;
  try {
    const made = await clients[0]!.request('POST', '/api/v1/namespaces', namespaceBody(namespace));
    if (made.status !== 201 && made.status !== 409) throw new Error(`namespace: ${made.status} ${made.body}`);
    return await operations[job.op]({job, clients, path: (name) => (name === undefined ? base : `${base}/${name}`)});
  } finally {
    if (job.namespace === undefined) {
      await clients[0]!.request('DELETE', base).catch(() => {});
      await clients[0]!.request('DELETE', `/api/v1/namespaces/${namespace}`).catch(() => {});
    }
    for (const client of new Set(clients)) client.close();
  }
}

const operations: Record<Job['op'], (bench: Bench) => Promise<Result>> = {
  async get(bench) {
    await put(bench, 'one');
    const path = bench.path('one');
    return closedLoop(bench, (client) => client.request('GET', path));
  },
  async list(bench) {
    await fill(bench, 'item');
    const path = bench.path() + (bench.job.query ?? '');
    return closedLoop(bench, (client) => client.request('GET', path));
  },
  async create(bench) {
    const run = Date.now().toString(36);
    return closedLoop(bench, (client, worker, n) => client.request('POST', bench.path(), configMap(bench, `c-${run}-${worker}-${n}`)));
  },
  async update(bench) {
    const {job} = bench;
    const own = Math.ceil(job.count / job.workers);
    const versions = new Map<string, string>();
    await parallel(bench, own * job.workers, async (client, i) => {
      const name = `u-${i % job.workers}-${Math.floor(i / job.workers)}`;
      versions.set(name, versionOf(ok(await client.request('POST', bench.path(), configMap(bench, name), true)).body));
    });
    return closedLoop(bench, async (client, worker, n) => {
      const name = `u-${worker}-${n % own}`;
      const body = configMap(bench, name, String(n), versions.get(name));
      const answer = await client.request('PUT', bench.path(name), body, true);
      if (answer.status === 200) versions.set(name, versionOf(answer.body));
      return answer;
    });
  },
  watch: fanOut,
  async fill(bench) {
    const began = performance.now();
    await fill(bench, 'f');
    return {...nothing, opsPerSecond: bench.job.count / ((performance.now() - began) / 1000)};
  },
  async rewrite(bench) {
    const began = performance.now();
    await put(bench, 'rewritten');
    await parallel(bench, bench.job.count, async (client, i) => {
      ok(await client.request('PUT', bench.path('rewritten'), configMap(bench, 'rewritten', String(i))));
    });
    return {...nothing, opsPerSecond: bench.job.count / ((performance.now() - began) / 1000)};
  },
};

const nothing: Result = {opsPerSecond: 0, p50Ms: 0, p99Ms: 0, failed: 0};

async function closedLoop(
  {job, clients}: Bench,
  step: (client: Connection, worker: number, n: number) => Promise<{status: number; body: Buffer}>,
): Promise<Result> {
  const from = performance.now() + job.warmSeconds * 1000;
  const to = from + job.seconds * 1000;
  const latencies: number[] = [];
  let failed = 0;
  let error: string | undefined;
  const worker = async (client: Connection, index: number): Promise<void> => {
    for (let n = 0; ; n++) {
      const began = performance.now();
      if (began > to) return;
      const {status, body} = await step(client, index, n);
      const ended = performance.now();
      if (status > 299) {
        failed++;
        error ??= `${status} ${body.toString('utf8', 0, 300)}`;
      } else if (began >= from && ended <= to) latencies.push(ended - began);
    }
  };
  const working = Promise.all(clients.map(worker));
  const cpu = await cpuBetween(job, from, to);
  await working;
  return resultOf(latencies, job.seconds, cpu, {failed, ...(error !== undefined && {error})});
}

/** Objects that are written in turn while all watch them. */
const watchedObjects = 50;

async function fanOut(bench: Bench): Promise<Result> {
  const {job, clients, path} = bench;
  for (let i = 0; i < watchedObjects; i++) await put(bench, `w-${i}`);
  const listed = ok(await clients[0]!.request('GET', `${path()}?limit=1`, undefined, true));
  const latencies: number[] = [];
  let from = Number.POSITIVE_INFINITY;
  let to = Number.POSITIVE_INFINITY;
  const watching = await connections(job, job.watchers);
  const onLine = (line: Buffer): void => {
    const at = line.indexOf('"t":"');
    if (at < 0) return;
    const sent = Number.parseFloat(line.toString('latin1', at + 5, at + 30));
    if (sent >= from && sent < to) latencies.push(performance.now() - sent);
  };
  for (const client of watching) await client.watch(`${path()}?watch=true&resourceVersion=${versionOf(listed.body)}`, onLine);
  await sleep(500);
  const begin = performance.now();
  from = begin + job.warmSeconds * 1000;
  to = from + job.seconds * 1000;
  const cpu = cpuBetween(job, from, to);
  const writes = Math.floor((job.warmSeconds + job.seconds) * job.writesPerSecond);
  const writing: Promise<unknown>[] = [];
  let failed = 0;
  for (let i = 0; i < writes; i++) {
    await sleep(begin + (i * 1000) / job.writesPerSecond - performance.now());
    const name = `w-${i % watchedObjects}`;
    const body = configMap(bench, name, String(performance.now()));
    const written = clients[i % clients.length]!.request('PUT', path(name), body);
    writing.push(written.then(({status}) => (status > 299 ? failed++ : undefined)));
  }
  await Promise.all(writing);
  const spent = await cpu;
  await sleep(500);
  for (const client of new Set(watching)) client.close();
  const missing = Math.round(job.seconds * job.writesPerSecond * job.watchers - latencies.length);
  const error = missing > job.watchers ? {error: `${missing} events did not arrive`} : {};
  return resultOf(latencies, job.seconds, spent, {failed, ...error});
}

async function cpuBetween({pids}: Job, from: number, to: number): Promise<number | undefined> {
  await sleep(from - performance.now());
  const before = cpuSeconds(pids);
  await sleep(to - performance.now());
  const after = cpuSeconds(pids);
  return before === undefined || after === undefined ? undefined : after - before;
}

function resultOf(latencies: number[], seconds: number, cpu: number | undefined, rest: {failed: number; error?: string}): Result {
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.min(Math.floor(latencies.length * share), latencies.length - 1)] ?? 0;
  return {
    opsPerSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    ...(cpu !== undefined && latencies.length > 0 && {cpuMsPerOp: (cpu * 1000) / latencies.length}),
    ...rest,
  };
}

async function put(bench: Bench, name: string): Promise<void> {
  const {status, body} = await bench.clients[0]!.request('POST', bench.path(), configMap(bench, name));
  if (status !== 201 && status !== 409) throw new Error(`${status} ${body}`);
}

const fill = (bench: Bench, prefix: string): Promise<void> =>
  parallel(bench, bench.job.count, async (client, i) => {
    const {status, body} = await client.request('POST', bench.path(), configMap(bench, `${prefix}-${i}`));
    if (status !== 201 && status !== 409) throw new Error(`${status} ${body}`);
  });

async function parallel({clients}: Bench, count: number, step: (client: Connection, i: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (next < count) await step(client, next++);
    }),
  );
}

function ok<T extends {status: number; body: Buffer}>(answer: T): T {
  if (answer.status > 299) throw new Error(`${answer.status} ${answer.body}`);
  return answer;
}

const versionOf = (body: Buffer): string => /"resourceVersion":"(\d+)"/.exec(body.toString('latin1'))?.[1] ?? '';

const namespaceBody = (name: string): Buffer => Buffer.from(JSON.stringify({apiVersion: 'v1', kind: 'Namespace', metadata: {name}}));

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
let padding = '';

/** Of `size` bytes, filled with what looks like text; `mark` tells one write from the next. */
function configMap({job}: Bench, name: string, mark = '0', resourceVersion?: string): Buffer {
  const version = resourceVersion === undefined ? '' : `,"resourceVersion":"${resourceVersion}"`;
  const head = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"${version}},"data":{"t":"${mark}","k":"`;
  while (padding.length < job.size) padding += letters[Math.floor(Math.random() * letters.length)];
  return Buffer.from(`${head}${padding.slice(0, Math.max(job.size - head.length - 3, 0))}"}}`);
}

const sleep = (ms: number): Promise<void> =>
  ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, Math.min(ms, 0x7fffffff)));

process.on('message', (job: Job) => {
  run(job).then(
    (result) => process.send!({result}),
    (error: Error) => process.send!({error: error.stack ?? error.message}),
  );
});
