/**
 * npm run bench -- dynamo [--only calls,throughput] [--seconds 5] [--json]
 *
 * Over the double of DynamoDB: the calls that each verb makes and the units that it is billed, for objects of 1 KB, in a process that
 * has just begun and in one that goes on; and the writes that one type takes under the documented limits of partitions, in virtual time.
 */

import {parseArgs} from 'node:util';
import type {Api} from '../../shared/api.ts';
import type {UserInfo} from '../../shared/auth/user.ts';
import {compose} from '../../shared/compose.ts';
import {createApi} from '../../shared/create-api.ts';
import {handlers} from '../../shared/registry/handlers.ts';
import {writing} from '../../shared/registry/served/writing.ts';
import type {Metered} from '../../shared/storage/dynamo/double/capacity.ts';
import {DynamoDouble, honest} from '../../shared/storage/dynamo/double/double.ts';
import {Machine} from '../../shared/storage/dynamo/double/machine.ts';
import {Steps} from '../../shared/storage/dynamo/double/steps.ts';
import {itemBytes} from '../../shared/storage/dynamo/double/values.ts';
import {openDynamo} from '../../shared/storage/dynamo/open.ts';
import {createTables, tablesOf} from '../../shared/storage/dynamo/tables.ts';
import {seededRandom} from '../../shared/storage/faults.ts';

const tables = tablesOf('bench-');
const objects = 500;
/** With names, times and managed fields an object of a kilobyte. */
const dataBytes = 645;
const token = 'bench-token';
const rootToken = 'root-token';
const user: UserInfo = {name: 'bench', uid: '1', groups: ['system:authenticated'], extra: {}};
const root: UserInfo = {...user, name: 'root', groups: ['system:masters']};
const staticTokens = new Map([
  [token, user],
  [rootToken, root],
]);

const random = seededRandom(1);
/** It does not get smaller when it is packed. */
const noise = (bytes: number): string => Array.from({length: bytes}, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name, namespace: 'bench'},
  data: {value: noise(dataBytes)},
});
const collection = '/api/v1/namespaces/bench/configmaps';

interface Row {
  name: string;
  cold?: Cost;
  warm?: Cost;
}

interface Verbs {
  rows: Row[];
  /** Of an object, as clients see it and as it is stored. */
  jsonBytes: number;
  itemBytes: number;
}

interface Cost {
  calls: Metered[];
}

/** What a function has: the handlers over a store, and no controllers. */
class Environment {
  readonly handle: Api['handle'];
  readonly #end: () => Promise<void>;

  constructor(handle: Api['handle'], end: () => Promise<void>) {
    this.handle = handle;
    this.#end = end;
  }

  static async open(double: DynamoDouble, clock: Steps): Promise<Environment> {
    const store = await openDynamo({client: double, tables, clock, monotonic: () => clock.now()});
    const {assembly, handle, close} = compose({store, clock, staticTokens}, {handlers, ...writing, endpoints: () => ({})});
    await assembly.warmUp();
    return new Environment(handle, async () => {
      assembly.endWatches();
      await close();
      await store.close();
    });
  }

  async ask(method: string, path: string, body?: unknown, type = 'application/json', as = token): Promise<unknown> {
    const [plain, query = ''] = path.split('?');
    const response = await this.handle({
      method,
      path: plain!,
      query: [...new URLSearchParams(query)],
      headers: {authorization: `Bearer ${as}`, ...(body !== undefined && {'content-type': type})},
      ...(body !== undefined && {body: Buffer.from(JSON.stringify(body))}),
    });
    const text = response.body instanceof Uint8Array ? Buffer.from(response.body).toString() : '{}';
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  close(): Promise<void> {
    return this.#end();
  }
}

/** Virtual time goes on when nothing else does. */
async function during<T>(clock: Steps, work: Promise<T>): Promise<T> {
  let done = false;
  const end = (): void => {
    done = true;
  };
  work.then(end, end);
  while (!done) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    let left = 1;
    if (!done) await clock.run(() => left-- > 0);
  }
  return work;
}

/** What goes on behind an answer belongs to it. */
async function quiet(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
}

async function metered(double: DynamoDouble, work: () => Promise<unknown>): Promise<Cost> {
  double.metered = [];
  await work();
  await quiet();
  const calls = double.metered;
  double.metered = undefined;
  return {calls};
}

const verbs = (): Promise<Verbs> => {
  const clock = new Steps();
  return during(clock, verbsAt(clock));
};

async function verbsAt(clock: Steps): Promise<Verbs> {
  const double = honest({now: () => clock.now()});
  await createTables(double, tables);
  const store = await openDynamo({client: double, tables, clock, monotonic: () => clock.now()});
  const api = createApi({store, clock, staticTokens});
  await api.start();
  const setup = new Environment(api.handle, async () => {
    await api.close();
    await store.close();
  });
  await setup.ask(
    'POST',
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: {name: 'bench'},
      subjects: [{kind: 'User', name: user.name, apiGroup: 'rbac.authorization.k8s.io'}],
      roleRef: {kind: 'ClusterRole', name: 'cluster-admin', apiGroup: 'rbac.authorization.k8s.io'},
    },
    'application/json',
    rootToken,
  );
  await quiet();
  await setup.ask('POST', '/api/v1/namespaces', {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'bench'}});
  for (let n = 0; n < objects; n++) await setup.ask('POST', collection, configMap(`o${n}`));
  await quiet();
  await setup.close();

  const rows: Row[] = [];
  let next = 0;
  const measure = async (
    name: string,
    request: (to: Environment, n: number) => Promise<unknown>,
    between?: (n: number) => Promise<unknown>,
  ) => {
    const environment = await opened();
    const cold = await metered(double, () => request(environment, next++));
    await request(environment, next++);
    await quiet();
    await between?.(next);
    const warm = await metered(double, () => request(environment, next++));
    rows.push({name, cold, warm});
    await environment.close();
  };
  const opened = (): Promise<Environment> => Environment.open(double, clock);
  const other = await opened();
  const jsonBytes = JSON.stringify(await other.ask('GET', `${collection}/o0`)).length;
  rows.push({name: 'opening an environment', cold: await metered(double, async () => (await opened()).close())});
  await measure('GET', (to, n) => to.ask('GET', `${collection}/o${n}`));
  await measure(`LIST ${objects}`, (to) => to.ask('GET', collection));
  await measure(
    `LIST ${objects}, after 20 changes`,
    (to) => to.ask('GET', collection),
    async () => {
      for (let n = 100; n < 120; n++)
        await other.ask('PATCH', `${collection}/o${n}`, {data: {more: noise(8)}}, 'application/merge-patch+json');
    },
  );
  await measure('create', (to, n) => to.ask('POST', collection, configMap(`new${n}`)));
  await measure('update', (to, n) => to.ask('PUT', `${collection}/o${n}`, configMap(`o${n}`)));
  await measure('patch', (to, n) => to.ask('PATCH', `${collection}/o${n}`, {data: {more: noise(8)}}, 'application/merge-patch+json'));
  await measure('delete', (to, n) => to.ask('DELETE', `${collection}/o${n}`));

  const watching = await opened();
  const list = (await watching.ask('GET', collection)) as {metadata: {resourceVersion: string}};
  const response = await watching.handle({
    method: 'GET',
    path: collection,
    query: [
      ['watch', 'true'],
      ['resourceVersion', list.metadata.resourceVersion],
    ],
    headers: {authorization: `Bearer ${token}`},
  });
  void drained(response.body as AsyncIterable<Uint8Array>);
  await quiet();
  // To rest, then one look.
  const tick = (): Promise<void> => clock.sleep(1_000);
  for (let seconds = 0; seconds < 10; seconds++) await tick();
  const rest = await metered(double, tick);
  await other.ask('PATCH', `${collection}/o200`, {data: {more: noise(8)}}, 'application/merge-patch+json');
  await quiet();
  rows.push({name: 'watch, a second at rest', warm: rest});
  rows.push({name: 'watch, a second that begins with a change', warm: await metered(double, tick)});
  await watching.close();
  await other.close();
  const sizes = double
    .items(tables.objects)
    .filter(({pk}) => pk!.S === 'default|o|configmaps')
    .map(itemBytes);
  return {rows, jsonBytes, itemBytes: Math.round(sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length)};
}

async function drained(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body);
}

interface Throughput {
  name: string;
  writesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  throttled: number;
}

/** As many writers as it takes, each creating objects of 1 KB one after the other. */
async function throughput(
  name: string,
  seconds: number,
  writers: number,
  partitionOf: (table: string, hash: string, range?: string | number) => string,
): Promise<Throughput> {
  const steps = new Steps();
  const chance = seededRandom(7);
  const double = new DynamoDouble({now: () => steps.now(), steps, random: chance, throttles: true, partitionOf});
  await createTables(double, tables);
  double.metered = [];
  const image = Buffer.from(noise(1000));
  const processes = 10;
  const latencies: number[] = [];
  let running = true;
  let opened = 0;
  const one = async (process: number): Promise<void> => {
    const machine = new Machine({steps, double, random: chance});
    const store = await openDynamo({client: machine.calls, tables, clock: machine.clock, monotonic: machine.monotonic, random: chance});
    opened++;
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; running; n++) {
        const began = steps.now();
        const key = `n${Math.floor(chance() * 1000)}/w${process}.${writer}.${n}`;
        try {
          await store.append({type: 'pods', key, expected: 'absent', operation: 'put', encode: () => image, index: {}});
          latencies.push(steps.now() - began);
        } catch {
          // Too late: its writer tries another one.
        }
      }
    };
    await Promise.all(Array.from({length: writers / processes}, (_, writer) => write(writer)));
  };
  const all = Array.from({length: processes}, (_, process) => one(process));
  void Promise.all(all);
  await steps.run(() => opened < processes);
  // What buckets had saved up is used first.
  const warmEnd = steps.now() + 2_000;
  await steps.run(() => steps.now() < warmEnd);
  const [before, throttledBefore] = [latencies.length, throttles(double.metered)];
  const end = steps.now() + seconds * 1_000;
  await steps.run(() => steps.now() < end);
  const made = latencies.slice(before).sort((a, b) => a - b);
  running = false;
  const at = (share: number): number => Math.round(made[Math.floor(made.length * share)] ?? 0);
  const throttled = throttles(double.metered) - throttledBefore;
  return {name, writesPerSecond: Math.round(made.length / seconds), p50Ms: at(0.5), p99Ms: at(0.99), throttled};
}

const throttles = (calls: readonly Metered[]): number =>
  calls.filter(({error}) => error === 'ThrottlingException' || error === 'TransactionCanceledException').length;

const split = (table: string, hash: string, range: string | number | undefined, ways: number): string => {
  if (!hash.includes('|o|') || range === undefined) return `${table} ${hash}`;
  let sum = 0;
  for (const character of String(range).split('/')[0]!) sum = (31 * sum + character.charCodeAt(0)) % 65_521;
  return `${table} ${hash} ${sum % ways}`;
};

const units = (calls: readonly Metered[], kind: 'readUnits' | 'writeUnits'): number => calls.reduce((sum, call) => sum + call[kind], 0);

const shortNames: Record<string, string> = {
  getItem: 'Get',
  batchGetItem: 'BatchGet',
  query: 'Query',
  putItem: 'Put',
  updateItem: 'Update',
  deleteItem: 'Delete',
  transactWriteItems: 'TransactWrite',
};

function told({calls}: Cost): string[] {
  const counts = new Map<string, number>();
  for (const {verb} of calls) counts.set(verb, (counts.get(verb) ?? 0) + 1);
  const names = [...counts].map(([verb, count]) => `${count > 1 ? `${count} ` : ''}${shortNames[verb] ?? verb}`);
  return [String(calls.length), names.join(', '), String(units(calls, 'readUnits')), String(units(calls, 'writeUnits'))];
}

function printed(head: readonly string[], rows: readonly (readonly string[])[], texts: readonly number[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const isText = (column: number): boolean => texts.includes(column);
  const lines = all.map(
    (row) => `| ${row.map((cell, n) => (isText(n) ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!))).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width, n) => (isText(n) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`);
  return lines.join('\n');
}

const {values} = parseArgs({
  options: {
    only: {type: 'string', default: 'calls,throughput'},
    seconds: {type: 'string', default: '5'},
    json: {type: 'boolean', default: false},
  },
});
const result: Record<string, unknown> = {};
if (values.only.includes('calls')) {
  const {rows, ...bytes} = await verbs();
  result['calls'] = rows;
  if (!values.json) {
    const cells = rows.flatMap(({name, cold, warm}) => [
      ...(cold ? [[`${name}`, 'cold', ...told(cold)]] : []),
      ...(warm ? [[cold ? '' : name, 'warm', ...told(warm)]] : []),
    ]);
    console.log(`objects of ${bytes.jsonBytes} bytes take ${bytes.itemBytes} as items\n`);
    console.log(printed(['', '', 'calls', '', 'read units', 'write units'], cells, [0, 1, 3]));
  }
}
if (values.only.includes('throughput')) {
  const seconds = Number(values.seconds);
  const rows: Throughput[] = [];
  const oneLog = (table: string, hash: string, range?: string | number): string =>
    split(table, hash.includes('|l|') ? hash.slice(0, hash.lastIndexOf('|')) : hash, range, 16);
  rows.push(
    await throughput('objects and log in a partition each', seconds, 200, (table, hash, range) =>
      oneLog(table, hash, hash.includes('|o|') ? '' : range),
    ),
  );
  rows.push(await throughput('log in buckets', seconds, 200, (table, hash, range) => split(table, hash, range, 1)));
  rows.push(await throughput('log in one partition, objects split 16 ways by heat', seconds, 200, oneLog));
  for (const ways of [4, 16])
    rows.push(
      await throughput(`log in buckets, objects split ${ways} ways by heat`, seconds, 200, (table, hash, range) =>
        split(table, hash, range, ways),
      ),
    );
  result['throughput'] = rows;
  if (!values.json) {
    const cells = rows.map(({name, writesPerSecond, p50Ms, p99Ms, throttled}) =>
      [name, writesPerSecond, p50Ms, p99Ms, throttled].map(String),
    );
    console.log(`\n${printed(['creates of 1 KB of one type', 'writes/s', 'p50 ms', 'p99 ms', 'throttled'], cells, [0])}`);
  }
}
if (values.json) console.log(JSON.stringify(result));
process.exit(0);
