/** What controllers do when they are rung, over the engine and a double of its tables. */
import {beforeEach, describe, expect, test, vi} from 'vitest';
import {systemClock} from '../shared/clock.ts';
import type {DynamoDouble} from '../shared/storage/dynamo/double/double.ts';
import type {RestHandler} from './kit/rest.ts';

type Kit = typeof import('./kit/testing.ts');
type Handler = (event: unknown) => Promise<unknown>;

let kit: Kit;
let double: DynamoDouble;
let records: object[];
let rest: Record<'create' | 'get' | 'list' | 'delete' | 'patch', RestHandler>;
let controllers: Handler;
let maintenance: Handler;

const json = {'Content-Type': 'application/json'};

beforeEach(async () => {
  vi.resetModules();
  kit = await import('./kit/testing.ts');
  ({double, records} = await kit.installTables({clock: systemClock}));
  const load = async <T>(name: string) =>
    ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as {handler: T}).handler;
  rest = {
    create: await load('create'),
    get: await load('get'),
    list: await load('list'),
    delete: await load('delete'),
    patch: await load('patch'),
  };
  controllers = await load('controllers');
  maintenance = await load('maintenance');
  // Everything is loaded anew, on a machine that may be busy.
}, 60_000);

async function ask(name: keyof typeof rest, method: string, url: string, body?: object) {
  const {statusCode, body: text} = await rest[name](kit.restEvent(method, url, {headers: json, ...(body && {body})}));
  return {code: statusCode, body: JSON.parse(text)};
}

/** The stream, batch by batch, until nothing more comes of it. */
async function ringAll(): Promise<void> {
  for (let batch = 0; records.length > 0; batch++) {
    expect(batch).toBeLessThan(20);
    expect(await controllers({Records: records.splice(0, 100)})).toEqual({batchItemFailures: []});
  }
}

const makeNamespace = (name: string) =>
  ask('create', 'POST', '/api/v1/namespaces', {kind: 'Namespace', apiVersion: 'v1', metadata: {name}});
const makeConfigMap = (namespace: string, name: string, metadata: object = {}) =>
  ask('create', 'POST', `/api/v1/namespaces/${namespace}/configmaps`, {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name, ...metadata}});
const namesOf = async (path: string): Promise<string[]> =>
  (await ask('list', 'GET', path)).body.items.map((item: {metadata: {name: string}}) => item.metadata.name);

describe('controllers', () => {
  test('give a new namespace what every namespace has', async () => {
    await makeNamespace('a');
    await ringAll();
    expect(await namesOf('/api/v1/namespaces/a/serviceaccounts')).toEqual(['default']);
    expect(await namesOf('/api/v1/namespaces/a/configmaps')).toEqual(['kube-root-ca.crt']);
  });

  test('put back what was deleted of it', async () => {
    await makeNamespace('a');
    await ringAll();
    await ask('delete', 'DELETE', '/api/v1/namespaces/a/serviceaccounts/default');
    await ringAll();
    expect(await namesOf('/api/v1/namespaces/a/serviceaccounts')).toEqual(['default']);
  });

  test('empty a namespace that goes, and let it go', async () => {
    await makeNamespace('a');
    await makeConfigMap('a', 'one');
    await ringAll();
    await ask('delete', 'DELETE', '/api/v1/namespaces/a');
    await ringAll();
    expect((await ask('get', 'GET', '/api/v1/namespaces/a')).code).toBe(404);
    expect((await ask('get', 'GET', '/api/v1/namespaces/a/configmaps/one')).code).toBe(404);
  });

  test('wait for who holds something in it', async () => {
    await makeNamespace('a');
    await makeConfigMap('a', 'held', {finalizers: ['example.com/hold']});
    await ask('delete', 'DELETE', '/api/v1/namespaces/a');
    await ringAll();
    const {status} = (await ask('get', 'GET', '/api/v1/namespaces/a')).body;
    expect(status.phase).toBe('Terminating');
    const path = '/api/v1/namespaces/a/configmaps/held';
    const patch = {headers: {'Content-Type': 'application/merge-patch+json'}, body: {metadata: {finalizers: null}}};
    await rest.patch(kit.restEvent('PATCH', path, patch));
    await ringAll();
    expect((await ask('get', 'GET', '/api/v1/namespaces/a')).code).toBe(404);
  });

  test('collect what lost its owner, and what that owned', async () => {
    await makeNamespace('a');
    const owner = (await makeConfigMap('a', 'owner')).body.metadata;
    const ownedBy = ({name, uid}: {name: string; uid: string}) => ({ownerReferences: [{apiVersion: 'v1', kind: 'ConfigMap', name, uid}]});
    const child = (await makeConfigMap('a', 'child', ownedBy(owner))).body.metadata;
    await makeConfigMap('a', 'grandchild', ownedBy(child));
    await ringAll();
    await ask('delete', 'DELETE', '/api/v1/namespaces/a/configmaps/owner');
    await ringAll();
    expect(await namesOf('/api/v1/namespaces/a/configmaps')).toEqual(['kube-root-ca.crt']);
  });

  test('give a pod a node, and none that is silent', async () => {
    await makeNamespace('a');
    await makeNamespace('kube-node-lease');
    const allocatable = {cpu: '2', memory: '4Gi', pods: '110'};
    const conditions = [{type: 'Ready', status: 'True', reason: 'Said', message: ''}];
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    for (const [name, heardMs] of [
      ['loud', 0],
      ['silent', 600_000],
    ] as const) {
      const meta = {kind: 'Node', apiVersion: 'v1', metadata: {name}};
      expect((await ask('create', 'POST', '/api/v1/nodes', {...meta, status: {allocatable, conditions}})).code).toBe(201);
      const renewTime = new Date(Date.now() - heardMs).toISOString().replace('Z', '000Z');
      const spec = {holderIdentity: name, leaseDurationSeconds: 40, renewTime};
      const lease = {kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: {name}, spec};
      expect((await ask('create', 'POST', leases, lease)).code).toBe(201);
    }
    await ringAll();
    const names = ['one', 'two', 'three'];
    for (const name of names) {
      const pod = {kind: 'Pod', apiVersion: 'v1', metadata: {name}, spec: {containers: [{name: 'c', image: 'i'}]}};
      expect((await ask('create', 'POST', '/api/v1/namespaces/a/pods', pod)).code).toBe(201);
    }
    await ringAll();
    for (const name of names) expect((await ask('get', 'GET', `/api/v1/namespaces/a/pods/${name}`)).body.spec.nodeName).toBe('loud');
    const taints = async (name: string) => (await ask('get', 'GET', `/api/v1/nodes/${name}`)).body.spec.taints;
    expect(await taints('loud')).toBeUndefined();
    expect(await taints('silent')).toMatchObject([{key: 'node.kubernetes.io/unreachable'}]);
  });

  test('are not troubled by what is nothing to them', async () => {
    await makeNamespace('a');
    await ringAll();
    await makeConfigMap('a', 'one');
    double.metered = [];
    await ringAll();
    expect(double.metered).toEqual([]);
  });

  test('say what is no batch', async () => {
    await expect(controllers({Records: [{}]})).rejects.toThrow('not a batch of the log');
    await expect(controllers({detail: {}})).rejects.toThrow('it has no Records');
  });
});

describe('maintenance', () => {
  test('does what a lost ring left undone', async () => {
    await makeNamespace('a');
    await makeConfigMap('a', 'one');
    await ask('delete', 'DELETE', '/api/v1/namespaces/a');
    records.length = 0;
    expect(await maintenance({'detail-type': 'Scheduled Event', source: 'aws.events'})).toEqual({settled: true});
    expect((await ask('get', 'GET', '/api/v1/namespaces/a')).code).toBe(404);
    expect(await maintenance({})).toEqual({settled: true});
  });
});
