/**
 * Drives an API in process with requests from a seed and holds it to what must be true of every answer, and at the end of everything
 * that it has stored. One request at a time, so that a slow one is known by name.
 */
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import type {ApiRequest, ApiResponse} from '../../shared/http/messages.ts';
import {catalogue} from '../../shared/registry/catalogue.ts';
import {TestApi} from '../api.ts';
import {loadCorpus, namespace, pathOf} from './corpus.ts';
import {Dice} from './dice.ts';
import {judge, polluted} from './judge.ts';
import {fuzzRequest} from './requests.ts';

export interface FuzzOptions {
  seed: number;
  seconds: number;
  /** Stops after this many, too. */
  requests?: number;
  /** A request that takes longer is a finding, for it holds up all others. */
  slowMs?: number;
}

export interface FuzzReport {
  requests: number;
  byStatus: Record<string, number>;
  findings: Finding[];
  stored: number;
  slowestMs: number;
  heapGrowthMiB: number;
}

export interface Finding {
  /** Number of the request within the seed. */
  at: number;
  what: string;
  request?: string;
}

const usualSlowMs = 1_000;
const maxHeapGrowthMiB = 200;
const maxFindings = 50;
/** Between these the world is judged as a whole, tidied up, and history is let go. */
const roundRequests = 2_000;

export async function fuzz({seed, seconds, requests = Number.POSITIVE_INFINITY, slowMs = usualSlowMs}: FuzzOptions): Promise<FuzzReport> {
  const dice = new Dice(seed);
  const corpus = loadCorpus();
  const api = await TestApi.start({user: {name: 'system:anonymous', groups: ['system:unauthenticated']}});
  const report: FuzzReport = {requests: 0, byStatus: {}, findings: [], stored: 0, slowestMs: 0, heapGrowthMiB: 0};
  const found = (what: string, request?: ApiRequest) => {
    if (report.findings.length < maxFindings && !report.findings.some((other) => other.what === what))
      report.findings.push({at: report.requests, what, ...(request && {request: describe(request)})});
  };
  const asAdmin = {user: {name: 'admin', groups: ['system:masters', 'system:authenticated']}};
  try {
    await api.ask('POST', '/api/v1/namespaces', {metadata: {name: namespace}}, {}, asAdmin);
    const baseline = heapMiB();
    const end = performance.now() + seconds * 1_000;
    while (performance.now() < end && report.requests < requests) {
      const request = fuzzRequest(dice, corpus);
      report.requests++;
      const {response, ms, rejected} = await send(api, request);
      report.slowestMs = Math.max(report.slowestMs, ms);
      if (rejected !== undefined) found(`handle rejected: ${rejected}`, request);
      // The machine may have been busy: only what is slow twice is slow.
      if (ms > slowMs && (await send(api, request)).ms > slowMs) found(`took ${Math.round(ms)} ms`, request);
      if (response) {
        report.byStatus[response.status] = (report.byStatus[response.status] ?? 0) + 1;
        const wrong = judge(request, response);
        if (wrong !== undefined) found(wrong, request);
      }
      const pollution = polluted();
      if (pollution !== undefined) {
        found(`${pollution} is polluted`, request);
        break;
      }
      if (report.requests % roundRequests === 0) await judgeWorld(api, report, found);
    }
    await judgeWorld(api, report, found);
    report.heapGrowthMiB = Math.round(heapMiB() - baseline);
    if (report.heapGrowthMiB > maxHeapGrowthMiB) found(`the heap grew by ${report.heapGrowthMiB} MiB`);
  } finally {
    await api.close();
  }
  return report;
}

async function send(api: TestApi, request: ApiRequest): Promise<{response?: ApiResponse; ms: number; rejected?: string}> {
  const abort = new AbortController();
  const began = performance.now();
  const pending = api.api.handle({...request, signal: abort.signal});
  // A version from the future is waited for: let the wait be over.
  const waits = request.query.some(([name]) => name === 'resourceVersion' || name === 'continue');
  if (waits) void settleWaits(api, pending);
  let response: ApiResponse;
  try {
    response = await pending;
  } catch (error) {
    return {ms: performance.now() - began, rejected: error instanceof Error ? (error.stack ?? error.message) : String(error)};
  }
  const ms = performance.now() - began;
  if (response.body !== undefined && !(response.body instanceof Uint8Array)) {
    const iterator = response.body[Symbol.asyncIterator]();
    await Promise.race([iterator.next(), new Promise((resolve) => setImmediate(resolve))]).catch(() => {});
    abort.abort();
    await iterator.return?.();
  }
  return {response, ms};
}

async function settleWaits(api: TestApi, pending: Promise<unknown>): Promise<void> {
  let done = false;
  pending.then(
    () => {
      done = true;
    },
    () => {
      done = true;
    },
  );
  while (!done) {
    for (let turn = 0; turn < 4 && !done; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (!done) api.clock.advance(1_000);
  }
}

/** All that is stored can be listed and decoded, and writing it back unchanged is accepted and changes nothing. Then it goes. */
async function judgeWorld(api: TestApi, report: FuzzReport, found: (what: string, request?: ApiRequest) => void): Promise<void> {
  const asAdmin = {user: {name: 'admin', groups: ['system:masters', 'system:authenticated']}};
  const health = await api.ask('GET', '/readyz', undefined, {}, asAdmin);
  if (health.code !== 200) found(`readyz says ${health.code}: ${health.text}`);
  for (const resource of catalogue().stored()) {
    const {body, code, text} = await api.ask('GET', pathOf(resource, '', ''), undefined, {}, asAdmin);
    if (code !== 200 || !Array.isArray(body?.items)) {
      found(`list of ${resource.resource}: ${code} ${text.slice(0, 200)}`);
      continue;
    }
    for (const accept of ['application/vnd.kubernetes.protobuf', 'application/yaml', 'application/json;as=Table;v=v1;g=meta.k8s.io']) {
      const answer = await api.ask('GET', pathOf(resource, '', ''), undefined, {accept}, asAdmin);
      if (answer.code !== 200) found(`list of ${resource.resource} as ${accept}: ${answer.code} ${answer.text.slice(0, 300)}`);
    }
    for (const item of body.items) {
      const {name, namespace: within, resourceVersion} = item.metadata;
      const path = pathOf(resource, encodeURIComponent(name), within ?? '');
      report.stored++;
      if (resource.verbs.includes('update')) {
        const put = await api.ask(
          'PUT',
          path,
          {kind: resource.kind, apiVersion: resource.group ? `${resource.group}/${resource.version}` : resource.version, ...item},
          {},
          asAdmin,
        );
        if (put.code !== 200) found(`PUT of ${path} as stored: ${put.code} ${put.body?.message} ${JSON.stringify(item).slice(0, 1_500)}`);
        else if (put.body.metadata.resourceVersion !== resourceVersion)
          found(`PUT of ${path} as stored changed it: ${JSON.stringify(item).slice(0, 1_500)}`);
      }
      if (within === namespace || (within === undefined && api.clock.now() % 2 === 0)) await sweep(api, path, resource.resource);
    }
  }
  // However it went: the next round needs it again.
  await api.ask('POST', '/api/v1/namespaces', {metadata: {name: namespace}}, {}, asAdmin);
  // History and Events expire, delayed work gets its turn.
  api.clock.advance(2 * 3_600_000);
  await new Promise((resolve) => setTimeout(resolve, 0));
}

async function sweep(api: TestApi, path: string, resource: string): Promise<void> {
  if (resource === 'namespaces' || resource.startsWith('clusterrole') || resource.includes('flow') || resource.includes('priority')) return;
  const asAdmin = {user: {name: 'admin', groups: ['system:masters', 'system:authenticated']}};
  await api.ask('PATCH', path, {metadata: {finalizers: null}}, {'content-type': 'application/merge-patch+json'}, asAdmin);
  await api.ask('DELETE', `${path}?gracePeriodSeconds=0`, undefined, {}, asAdmin);
}

let collect: (() => void) | undefined;

function heapMiB(): number {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function describe({method, path, query, headers, body, user}: ApiRequest): string {
  const text = body ? Buffer.from(body).toString(headers['content-type']?.includes('protobuf') ? 'base64' : 'utf8') : '';
  const search = query.length > 0 ? `?${new URLSearchParams(query as [string, string][])}` : '';
  return `${method} ${path}${search} as ${user?.name ?? 'nobody'} ${JSON.stringify(headers)
    .replace(/(.)\1{50,}/g, '$1...')
    .slice(0, 300)}${text && ` body(${body!.length}) ${text.slice(0, 1_200)}`}`;
}
