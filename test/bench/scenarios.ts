/** What is measured: the same loads on each server in turn, and what only a server of our own can be asked for. */
import type {Api} from '../../shared/api.ts';
import type {LoadClient} from './clients.ts';
import type {Job, Result} from './load.ts';
import {residentMiB} from './processes.ts';
import {Data, type OwnServer, type Server, startOwn} from './server.ts';

export interface Settings {
  client: LoadClient;
  /** dist/cli.js */
  cli: string;
  reference: Server | undefined;
  seconds: number;
  runs: number;
  protocol: 'h1' | 'h2';
  gzip: boolean;
  /** Objects in the largest collection that is built. */
  largest: number;
  progress(text: string): void;
}

export interface Row {
  name: string;
  own: Partial<Result> & {value?: number};
  reference?: Partial<Result> & {value?: number};
  /** Of `value`; rows without one are about operations per second. */
  unit?: string;
}

const loads: {name: string; job: Partial<Job> & Pick<Job, 'op' | 'workers'>}[] = [
  {name: 'GET one 1 KB, 16 clients', job: {op: 'get', workers: 16}},
  {name: 'LIST 500 x 1 KB, 8 clients', job: {op: 'list', workers: 8, count: 500}},
  {name: 'CREATE 1 KB durable, 16 clients', job: {op: 'create', workers: 16}},
  {name: 'UPDATE 1 KB durable, 16 clients', job: {op: 'update', workers: 16, count: 500}},
  {name: 'watch: 1 watcher, 50 writes/s', job: {op: 'watch', workers: 4, watchers: 1}},
  {name: 'watch: 100 watchers, 50 writes/s', job: {op: 'watch', workers: 4, watchers: 100}},
  {name: 'watch: 1,000 watchers, 5 writes/s', job: {op: 'watch', workers: 4, watchers: 1_000, writesPerSecond: 5}},
];

export const groups = {loads: underLoad, memory, start: starts, fork: forks, history: listOverHistory, size: writesOverSize};
export type Group = keyof typeof groups;

const jobFor = (settings: Settings, {url, token, pids}: Server, job: Partial<Job> & Pick<Job, 'op'>): Job => ({
  url,
  token,
  pids,
  protocol: settings.protocol,
  gzip: settings.gzip,
  workers: 16,
  seconds: settings.seconds,
  warmSeconds: 1,
  size: 1_024,
  count: 500,
  watchers: 100,
  writesPerSecond: 50,
  ...job,
});

async function withOwn<T>(settings: Settings, use: (server: OwnServer, data: Data) => Promise<T>): Promise<T> {
  const data = new Data();
  try {
    const server = await startOwn(settings.cli, data);
    try {
      return await use(server, data);
    } finally {
      await server.stop();
    }
  } finally {
    data.remove();
  }
}

/** Ours and the reference in turn, so that both meet the same moods of the machine; the run in the middle counts. */
function underLoad(settings: Settings): Promise<Row[]> {
  return withOwn(settings, async (server) => {
    const rows: Row[] = [];
    for (const {name, job} of loads) {
      const own: Result[] = [];
      const reference: Result[] = [];
      for (let run = 1; run <= settings.runs; run++) {
        settings.progress(`${name}, run ${run} of ${settings.runs}`);
        own.push(await settings.client.run(jobFor(settings, server, job)));
        if (settings.reference) reference.push(await settings.client.run(jobFor(settings, settings.reference, job)));
      }
      rows.push({name, own: middle(own), ...(settings.reference && {reference: middle(reference)})});
    }
    return [...rows, ...perEvent(rows)];
  });
}

/** The writes cost the same with one watcher: what the other 99 add is the cost of delivery. */
function perEvent(rows: readonly Row[]): Row[] {
  const [one, many] = [rows.find(({name}) => name.startsWith('watch: 1 ')), rows.find(({name}) => name.startsWith('watch: 100 '))];
  if (!one || !many) return [];
  const added = (side: 'own' | 'reference'): number | undefined => {
    const [few, all] = [one[side], many[side]];
    if (few?.cpuMsPerOp === undefined || all?.cpuMsPerOp === undefined) return undefined;
    return ((all.cpuMsPerOp * 100 - few.cpuMsPerOp) / 99) * 1000;
  };
  const [own, reference] = [added('own'), added('reference')];
  if (own === undefined) return [];
  return [
    {name: 'watch: CPU that one more watcher adds', unit: 'us/event', own: {value: own}, ...(reference && {reference: {value: reference}})},
  ];
}

function middle(results: readonly Result[]): Result {
  const sorted = [...results].sort((a, b) => a.opsPerSecond - b.opsPerSecond);
  const failed = results.find((result) => result.failed > 0 || result.error !== undefined);
  const pick = (of: (result: Result) => number | undefined): number | undefined =>
    results.map(of).sort((a, b) => (a ?? 0) - (b ?? 0))[Math.floor(results.length / 2)];
  const cpuMsPerOp = pick((result) => result.cpuMsPerOp);
  return {
    opsPerSecond: sorted[Math.floor(sorted.length / 2)]!.opsPerSecond,
    p50Ms: pick((result) => result.p50Ms)!,
    p99Ms: pick((result) => result.p99Ms)!,
    ...(cpuMsPerOp !== undefined && {cpuMsPerOp}),
    failed: results.reduce((sum, result) => sum + result.failed, 0),
    ...(failed?.error !== undefined && {error: failed.error}),
  };
}

function memory(settings: Settings): Promise<Row[]> {
  return withOwn(settings, async (server) => {
    settings.progress('memory');
    const {reference} = settings;
    const rows: Row[] = [];
    const measure = (name: string): void => {
      const of = (pids: readonly number[]) => ({value: residentMiB(pids) ?? Number.NaN});
      rows.push({name, unit: 'MiB', own: of(server.pids)});
    };
    measure('memory, empty');
    const filled = jobFor(settings, server, {op: 'fill', count: 10_000, namespace: 'bench-memory'});
    await settings.client.run(filled);
    // Two intervals and three more until it has given back all that it will (idle-memory.ts).
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    measure('memory, 10,000 objects of 1 KB');
    if (reference)
      rows.push({name: 'memory of the reference as it stands', unit: 'MiB', own: {}, reference: {value: residentMiB(reference.pids)!}});
    return rows;
  });
}

async function starts(settings: Settings): Promise<Row[]> {
  const data = new Data();
  try {
    const times: number[] = [];
    for (let i = 0; i <= settings.runs; i++) {
      settings.progress(`start ${i + 1}`);
      const server = await startOwn(settings.cli, data);
      times.push(server.readyMs);
      await server.stop();
    }
    const [first, ...later] = times;
    later.sort((a, b) => a - b);
    return [
      {name: 'exec to ready, first start', unit: 'ms', own: {value: first!}},
      {name: 'exec to ready, later starts', unit: 'ms', own: {value: later[Math.floor(later.length / 2)]!}},
    ];
  } finally {
    data.remove();
  }
}

async function forks(settings: Settings): Promise<Row[]> {
  const {startCluster} = (await import(new URL('index.js', `file://${settings.cli}`).href)) as typeof import('../../localstack/library.ts');
  const rows: Row[] = [];
  const cluster = await startCluster({inMemory: true});
  try {
    let made = 0;
    for (const objects of [100, 10_000]) {
      settings.progress(`fork with ${objects} objects`);
      for (; made < objects; made++) await makeConfigMap(cluster.api, made);
      const times: number[] = [];
      for (let i = 0; i < 9; i++) {
        const began = performance.now();
        const copy = await cluster.fork();
        times.push(performance.now() - began);
        await copy.close({graceMs: 0});
      }
      times.sort((a, b) => a - b);
      rows.push({name: `fork with ${objects.toLocaleString('en')} objects`, unit: 'ms', own: {value: times[4]!}});
    }
  } finally {
    await cluster.close({graceMs: 0});
  }
  return rows;
}

async function makeConfigMap(api: Api, i: number): Promise<void> {
  const {status, body} = await api.handle({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    query: [],
    headers: {'content-type': 'application/json'},
    user: {name: 'bench', groups: ['system:masters']},
    body: Buffer.from(JSON.stringify({metadata: {name: `f-${i}`}, data: {k: 'x'.repeat(900)}})),
  });
  if (status !== 201) throw new Error(`${status} ${body}`);
}

/** Lists of the same 100 objects, after more and more writes. Chunked, so that no kept body answers them. */
function listOverHistory(settings: Settings): Promise<Row[]> {
  return withOwn(settings, async (server) => {
    const rows: Row[] = [];
    const namespace = 'bench-history';
    let writes = 0;
    for (const history of [0, 5_000, 20_000]) {
      settings.progress(`list after ${history} writes`);
      if (history > 0) await settings.client.run(jobFor(settings, server, {op: 'rewrite', count: history - writes, workers: 1, namespace}));
      writes = history;
      const list = {op: 'list', workers: 4, count: 100, namespace, query: '?limit=500'} as const;
      rows.push({
        name: `LIST 100 after ${history.toLocaleString('en')} writes`,
        own: await settings.client.run(jobFor(settings, server, list)),
      });
    }
    return rows;
  });
}

function writesOverSize(settings: Settings): Promise<Row[]> {
  return withOwn(settings, async (server) => {
    const rows: Row[] = [];
    const namespace = 'bench-size';
    for (const size of [1_000, 10_000, 100_000].filter((size) => size <= settings.largest)) {
      settings.progress(`writes into ${size} objects`);
      // What is there already answers 409 and stays.
      await settings.client.run(jobFor(settings, server, {op: 'fill', count: size, namespace}));
      const update = {op: 'create', workers: 16, namespace} as const;
      rows.push({
        name: `CREATE into ${size.toLocaleString('en')} objects`,
        own: await settings.client.run(jobFor(settings, server, update)),
      });
    }
    return rows;
  });
}
