/** Leases of nodes whose life is told by their connection, as clients read them. */
import {afterEach, beforeEach, expect, test} from 'vitest';
import {TestApi} from '../../test/api.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const everywhere = '/apis/coordination.k8s.io/v1/leases';
const seen = new Map<string, number>();
let api: TestApi;

beforeEach(async () => {
  seen.clear();
  api = await TestApi.start({
    nodeLiveness: {lastSeen: async (name) => new Map([...seen].filter(([node]) => name === undefined || node === name))},
  });
  for (const name of ['alive', 'silent']) await api.post(leases, lease(name));
});
afterEach(() => api.close());

const micro = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
const lease = (name: string) => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: {name},
  spec: {holderIdentity: name, leaseDurationSeconds: 40, renewTime: micro(api.clock.now())},
});
/** Until what is under way has come to where it waits for the clock. */
const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};
const renewals = (items: {metadata: {name: string}; spec: {renewTime: string}}[]) =>
  Object.fromEntries(items.map(({metadata, spec}) => [metadata.name, spec.renewTime]));

test('a living node has renewed its lease just now, and nothing was written', async () => {
  const written = micro(api.clock.now());
  const before = (await api.get(`${leases}/alive`)).body;
  api.clock.advance(600_000);
  seen.set('alive', api.clock.now());
  const now = micro(api.clock.now());
  const after = (await api.get(`${leases}/alive`)).body;
  expect(after.spec.renewTime).toBe(now);
  expect(after).toEqual({...before, spec: {...before.spec, renewTime: now}});
  expect(renewals((await api.get(leases)).body.items)).toEqual({alive: now, silent: written});
  expect(renewals((await api.get(`${everywhere}?limit=1`)).body.items)).toEqual({alive: now});
});

test('a node that is not heard any more has renewed it when it was, or when it wrote it last', async () => {
  const written = api.clock.now();
  api.clock.advance(600_000);
  seen.set('alive', written + 1_000).set('silent', written - 1_000);
  expect(renewals((await api.get(leases)).body.items)).toEqual({alive: micro(written + 1_000), silent: micro(written)});
});

test('leases of others are their own affair', async () => {
  const path = leases.replace('kube-node-lease', 'kube-system');
  await api.post(path, lease('alive'));
  const {renewTime} = (await api.get(`${path}/alive`)).body.spec;
  seen.set('alive', api.clock.now() + 60_000);
  expect((await api.get(`${path}/alive`)).body.spec.renewTime).toBe(renewTime);
  const all = (await api.get(everywhere)).body.items as {metadata: {namespace: string}; spec: {renewTime: string}}[];
  expect(all.find(({metadata}) => metadata.namespace === 'kube-system')!.spec.renewTime).toBe(renewTime);
});

test('a watch is told of each living node again and again, and goes on from its head', async () => {
  const watch = await api.watch(`${leases}?watch=1&allowWatchBookmarks=true`);
  expect((await watch.next(3)).map(({type}) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
  await turns();
  for (let round = 0; round < 2; round++) {
    api.clock.advance(9_000);
    seen.set('alive', api.clock.now());
    api.clock.advance(1_000);
    const [renewed, mark] = await watch.next(2);
    expect(renewed).toMatchObject({type: 'MODIFIED', object: {metadata: {name: 'alive'}, spec: {renewTime: micro(seen.get('alive')!)}}});
    expect(mark!.type).toBe('BOOKMARK');
    await turns();
    expect(Number(mark!.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(renewed!.object.metadata.resourceVersion));
  }
  await watch.close();
});

test('a watch of one node hears of no other', async () => {
  const watch = await api.watch(`${leases}?watch=1&fieldSelector=metadata.name%3Dsilent`);
  await watch.next(1);
  await turns();
  seen.set('alive', api.clock.now() + 5_000);
  api.clock.advance(10_000);
  await api.mergePatch(`${leases}/silent`, {metadata: {labels: {a: 'b'}}});
  expect((await watch.next(1))[0]!.object.metadata).toMatchObject({name: 'silent', labels: {a: 'b'}});
  await watch.close();
});

test('cannot be carried where what is sent is what was written', async () => {
  const asked = (path: string) =>
    api.api.handle({method: 'GET', path, query: [['watch', '1']], headers: {accept: 'application/json'}, asFeed: true});
  expect((await asked(leases)).status).toBe(406);
  expect((await asked(everywhere)).status).toBe(406);
  expect((await asked(leases.replace('kube-node-lease', 'kube-system'))).feed).toBeDefined();
});
