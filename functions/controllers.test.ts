/** What controllers do when they are rung, over the engine and a double of its tables. */
import {beforeEach, describe, expect, test} from 'vitest';
import type {DynamoDouble} from '../shared/storage/dynamo/double/double.ts';
import {type RungFunctions, rungFunctions} from './testing.ts';

let double: DynamoDouble;
let records: object[];
let ask: RungFunctions['ask'];
let ringAll: RungFunctions['ringAll'];
let controllers: RungFunctions['controllers'];
let maintenance: RungFunctions['maintenance'];

beforeEach(async () => {
  ({double, records, ask, ringAll, controllers, maintenance} = await rungFunctions());
  // Everything is loaded anew, on a machine that may be busy.
}, 60_000);

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
    await ask('patch', 'PATCH', path, {metadata: {finalizers: null}}, 'application/merge-patch+json');
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
