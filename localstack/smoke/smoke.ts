/**
 * What a deployment must do, in half a minute: objects written and read back, conflicts told, lists paged, a watch that hears of changes.
 * Measures on the way. Leaves nothing behind but a namespace that is going. The same against the rehearsal, LocalStack and AWS.
 */
import {randomBytes} from 'node:crypto';
import {Client, type Target} from './client.ts';

export interface SmokeReport {
  /** From a write's acknowledgement to its event at a watcher; negative where the event came first. */
  eventMs: {p50: number; p90: number; worst: number};
  /** Of writers of one object at the same time: how many of them were told of a conflict, and how many won. */
  conflicts: {refused: number; won: number};
  verbs: Record<string, {requests: number; p50Ms: number; p99Ms: number}>;
}

const rounds = 12;
const rivals = 8;
const listed = 40;
const page = 15;
/** An HTTP watch on Lambda asks about once a second at rest. */
const eventLimitMs = 20_000;

/** @throws Error that names the step and what was answered */
export async function smoke(target: Target, say: (line: string) => void): Promise<SmokeReport> {
  const client = new Client(target);
  try {
    return await steps(client, say);
  } finally {
    client.close();
  }
}

async function steps(client: Client, say: (line: string) => void): Promise<SmokeReport> {
  const namespace = `smoke-${randomBytes(4).toString('hex')}`;
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const configMap = (name: string, data: object) => ({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name}, data});
  const expect = async (verb: string, status: number, ...rest: [method: string, path: string, body?: unknown, type?: string]) => {
    const reply = await client.ask(verb, ...rest);
    if (reply.status !== status) throw new Error(`${rest[0]} ${rest[1]}: ${reply.status}, want ${status}: ${JSON.stringify(reply.object)}`);
    return reply.object;
  };

  const {gitVersion} = await expect('discovery', 200, 'GET', '/version');
  say(`serves ${gitVersion}`);
  await expect('create', 201, 'POST', '/api/v1/namespaces', {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}});
  try {
    const first = await expect('create', 201, 'POST', maps, configMap('first', {step: '0'}));
    await expect('create', 409, 'POST', maps, configMap('first', {}));
    const read = await expect('get', 200, 'GET', `${maps}/first`);
    if (read.metadata.uid !== first.metadata.uid) throw new Error('what was read is not what was written');
    await expect('patch', 200, 'PATCH', `${maps}/first`, {data: {step: '1'}}, 'application/merge-patch+json');
    await expect('create', 201, 'POST', maps, configMap('second', {}));
    await expect('update', 409, 'PUT', `${maps}/first`, read);
    await expect('delete', 200, 'DELETE', `${maps}/second`);
    await expect('get', 404, 'GET', `${maps}/second`);
    say('create, get, patch, update and delete do as they should');

    const conflicts = await contend(client, `${maps}/first`);
    if (conflicts.won !== 1) throw new Error(`${conflicts.won} of ${rivals} writers of one version won`);
    say(`of ${rivals} writers at the same time one won, ${conflicts.refused} were told of a conflict`);

    await Promise.all(
      Array.from({length: listed}, (_, at) => expect('create', 201, 'POST', maps, configMap(`listed-${at}`, {at: String(at)}))),
    );
    const names = await listInPages(expect, maps);
    const missing = Array.from({length: listed}, (_, at) => `listed-${at}`).filter((name) => !names.includes(name));
    if (missing.length > 0 || names.length !== new Set(names).size) throw new Error(`a list in pages lacks ${missing}, or repeats`);
    say(`${names.length} objects listed in pages of ${page}, each once`);

    const eventMs = await listen(client, maps, (name) => expect('create', 201, 'POST', maps, configMap(name, {})));
    say(`events follow their writes by ${eventMs.p50} ms (p90 ${eventMs.p90}, worst ${eventMs.worst})`);
    const verbs = Object.fromEntries(
      [...client.asked].map(([verb, requests]) => [
        verb,
        {requests, p50Ms: Math.round(client.percentile(verb, 0.5)), p99Ms: Math.round(client.percentile(verb, 0.99))},
      ]),
    );
    return {eventMs, conflicts, verbs};
  } finally {
    await client.ask('delete', 'DELETE', `/api/v1/namespaces/${namespace}`);
  }
}

/** All of them write over the same version. */
async function contend(client: Client, path: string): Promise<SmokeReport['conflicts']> {
  const {object} = await client.ask('get', 'GET', path);
  const replies = await Promise.all(
    Array.from({length: rivals}, (_, by) => client.ask('update', 'PUT', path, {...object, data: {by: String(by)}})),
  );
  const count = (status: number): number => replies.filter((reply) => reply.status === status).length;
  return {won: count(200), refused: count(409)};
}

// biome-ignore lint/suspicious/noExplicitAny: as in client.ts
type Expect = (verb: string, status: number, method: string, path: string) => Promise<any>;

async function listInPages(expect: Expect, path: string): Promise<string[]> {
  const names: string[] = [];
  let more = '';
  do {
    const list = await expect('list', 200, 'GET', `${path}?limit=${page}${more && `&continue=${encodeURIComponent(more)}`}`);
    names.push(...list.items.map(({metadata}: {metadata: {name: string}}) => metadata.name));
    more = list.metadata.continue ?? '';
  } while (more);
  return names;
}

async function listen(client: Client, path: string, create: (name: string) => Promise<unknown>): Promise<SmokeReport['eventMs']> {
  const {object} = await client.ask('list', 'GET', `${path}?limit=1`);
  const heard = new Map<string, number>();
  let wake = (): void => {};
  const stop = await client.watch(`${path}?watch=1&resourceVersion=${object.metadata.resourceVersion}&timeoutSeconds=120`, (event) => {
    heard.set(event.object.metadata.name, performance.now());
    wake();
  });
  const took: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const name = `heard-${round}`;
      await create(name);
      const acknowledged = performance.now();
      const giveUp = setTimeout(() => wake(), eventLimitMs);
      while (!heard.has(name) && performance.now() - acknowledged < eventLimitMs) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      clearTimeout(giveUp);
      const at = heard.get(name);
      if (at === undefined) throw new Error(`a watch did not hear of ${name} within ${eventLimitMs} ms`);
      took.push(at - acknowledged);
    }
  } finally {
    stop();
  }
  const sorted = took.sort((a, b) => a - b).map(Math.round);
  return {p50: sorted[Math.floor(rounds * 0.5)]!, p90: sorted[Math.floor(rounds * 0.9)]!, worst: sorted.at(-1)!};
}
