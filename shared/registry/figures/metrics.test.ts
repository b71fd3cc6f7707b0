/** metrics.k8s.io over agents that a test plays: what is asked of whom, and what clients read. */
import {createServer, type Server} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {TestApi} from '../../../test/api.ts';
import type {NodeRoads} from '../../nodes/roads.ts';

const base = '/apis/metrics.k8s.io/v1beta1';
const time = '2026-01-01T00:00:00Z';

let api: TestApi;
let agents: Server;
let asked: string[];
let silent: Set<string>;
let say: (node: string) => unknown;

const measured = (nanoCores: number, bytes: number) => ({
  cpu: {time, usageNanoCores: nanoCores, usageCoreNanoSeconds: 1},
  memory: {time, workingSetBytes: bytes},
});
const podOf = (name: string, ...containers: [string, number, number][]) => ({
  podRef: {name, namespace: 'default', uid: 'of-its-own'},
  containers: containers.map(([container, cpu, memory]) => ({name: container, ...measured(cpu, memory)})),
});

const aggregated = {accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'};

const roads: NodeRoads = {
  async dial(node) {
    const name = node!.metadata.name!;
    asked.push(name);
    if (silent.has(name)) return new Promise(() => {});
    return connect((agents.address() as AddressInfo).port, '127.0.0.1');
  },
};

const pod = (name: string, nodeName: string, labels = {}) => ({
  kind: 'Pod',
  metadata: {name, labels},
  spec: {nodeName, containers: [{name: 'main', image: 'x'}]},
});

beforeAll(async () => {
  agents = createServer((request, response) => {
    response.setHeader('stats-window-seconds', '12.5');
    expect(request.url).toBe('/stats/summary?only_cpu_and_memory=true');
    response.end(JSON.stringify(say(request.headers.host!)));
  });
  await new Promise<void>((done) => agents.listen(0, '127.0.0.1', done));
  asked = [];
  api = await TestApi.start({nodes: roads});
  for (const name of ['n1', 'n2', 'mute']) await api.post('/api/v1/nodes', {kind: 'Node', metadata: {name, labels: {disk: name}}});
  await api.post('/api/v1/namespaces/default/pods', pod('web', 'n1', {app: 'web'}));
  await api.post('/api/v1/namespaces/default/pods', pod('db', 'n2', {app: 'db'}));
  await api.post('/api/v1/namespaces/default/pods', pod('starting', 'n2'));
});
afterAll(async () => {
  await api.close();
  agents.closeAllConnections();
  agents.close();
});

beforeEach(() => {
  // What was heard before is forgotten.
  api.clock.advance(120_000);
  asked = [];
  silent = new Set(['mute']);
  say = (node) => ({
    node: {nodeName: node, ...measured(node === 'n1' ? 2_000_000 : 1_529_817, 3 * 1024 * 1024 + 1024)},
    pods: node === 'n1' ? [podOf('web', ['main', 1_000_001, 1024], ['side', 2_000_000, 2048])] : [podOf('db', ['main', 5, 4096])],
  });
});

/** A node that says nothing is waited for, for a while. */
async function patiently<T>(answer: Promise<T>): Promise<T> {
  let done = false;
  void answer.finally(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (asked.includes('mute')) api.clock.advance(5_000);
  }
  return answer;
}

describe('nodes', () => {
  test('are told as metrics-server does; who does not answer is left out', async () => {
    await Promise.all([api.get(`${base}/nodes/n1`), api.get(`${base}/nodes/n2`)]);
    const {code, body} = await patiently(api.get(`${base}/nodes`));
    expect(code).toBe(200);
    expect(body).toMatchObject({kind: 'NodeMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}});
    expect(body.items.map((item: {metadata: {name: string}}) => item.metadata.name)).toEqual(['n1', 'n2']);
    expect(body.items[0]).toEqual({
      metadata: {name: 'n1', creationTimestamp: expect.stringMatching(/Z$/), labels: {disk: 'n1'}},
      timestamp: time,
      window: '12.5s',
      usage: {cpu: '2m', memory: '3073Ki'},
    });
    expect(body.items[1].usage.cpu).toBe('1529817n');
  });

  test('are asked once for some seconds, all at a time, and again when that is over', async () => {
    await Promise.all([api.get(`${base}/nodes/n1`), api.get(`${base}/nodes/n1`), api.get(`${base}/pods?labelSelector=app=web`)]);
    await api.get(`${base}/nodes/n1`);
    expect(asked).toEqual(['n1']);
    api.clock.advance(12_000);
    await api.get(`${base}/nodes/n1`);
    expect(asked).toEqual(['n1', 'n1']);
  });

  test('one that says nothing is not waited for by each list', async () => {
    await Promise.all([api.get(`${base}/nodes/n1`), api.get(`${base}/nodes/n2`)]);
    await patiently(api.get(`${base}/nodes`));
    api.clock.advance(30_000);
    asked = [];
    expect((await api.get(`${base}/nodes`)).body.items).toHaveLength(2);
    expect(asked.sort()).toEqual(['n1', 'n2']);
  });

  test('selectors ask only whom they select', async () => {
    const {body} = await api.get(`${base}/nodes?labelSelector=disk%3Dn2`);
    expect(body.items).toHaveLength(1);
    const byName = await api.get(`${base}/nodes?fieldSelector=metadata.name%3Dn1`);
    expect(byName.body.items).toHaveLength(1);
    expect(asked.sort()).toEqual(['n1', 'n2']);
  });

  test('one that is not there, and one that says nothing, are not found', async () => {
    expect(await api.get(`${base}/nodes/none`)).toMatchObject({code: 404, body: {message: 'nodes "none" not found'}});
    expect(await patiently(api.get(`${base}/nodes/mute`))).toMatchObject({
      code: 404,
      body: {message: 'nodemetrics.metrics.k8s.io "mute" not found', reason: 'NotFound'},
    });
  });
});

describe('pods', () => {
  test('come with their containers, from the nodes that hold them', async () => {
    const {body} = await api.get(`${base}/namespaces/default/pods`);
    expect(asked.sort()).toEqual(['n1', 'n2']);
    expect(body.kind).toBe('PodMetricsList');
    expect(body.items.map((item: {metadata: {name: string}}) => item.metadata.name)).toEqual(['db', 'web']);
    expect(body.items[1]).toMatchObject({
      metadata: {name: 'web', namespace: 'default', labels: {app: 'web'}},
      containers: [
        {name: 'main', usage: {cpu: '1000001n', memory: '1Ki'}},
        {name: 'side', usage: {cpu: '2m', memory: '2Ki'}},
      ],
    });
    expect((await api.get(`${base}/namespaces/other/pods`)).body.items).toEqual([]);
    expect((await api.get(`${base}/pods?labelSelector=app%3Ddb`)).body.items).toHaveLength(1);
  });

  test('one by its name, and none that has no figures yet', async () => {
    expect((await api.get(`${base}/namespaces/default/pods/db`)).body).toMatchObject({kind: 'PodMetrics', metadata: {name: 'db'}});
    expect(await api.get(`${base}/namespaces/default/pods/starting`)).toMatchObject({
      code: 404,
      body: {message: 'podmetrics.metrics.k8s.io "default/starting" not found'},
    });
    expect((await api.get(`${base}/namespaces/default/pods/none`)).body.message).toBe('pods "none" not found');
  });

  test('a table sums up', async () => {
    const {body} = await api.ask('GET', `${base}/namespaces/default/pods/web`, undefined, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    expect(body.columnDefinitions.map(({name}: {name: string}) => name)).toEqual(['Name', 'cpu', 'memory', 'Window']);
    expect(body.rows[0].cells).toEqual(['web', '3000001n', '3Ki', '12.5s']);
  });
});

test('what an agent says that is no figure is none', async () => {
  say = () => ({
    node: {cpu: {time, usageNanoCores: -1}, memory: {workingSetBytes: 'many'}},
    pods: [podOf('web', ['main', 1, 1]), {podRef: null}, {podRef: {name: 'web', namespace: 'default'}, containers: [{name: 'main'}]}, 7],
  });
  expect((await api.get(`${base}/namespaces/default/pods/web`)).code).toBe(200);
  expect((await api.get(`${base}/nodes/n1`)).code).toBe(404);
  api.clock.advance(60_000);
  say = () => 'nonsense';
  expect((await api.get(`${base}/namespaces/default/pods`)).body.items).toEqual([]);
});

test('only to be read: no watch, no write', async () => {
  expect((await api.get(`${base}/nodes?watch=1`)).code).toBe(405);
  expect((await api.get(`${base}/watch/nodes`)).code).toBe(404);
  expect((await api.ask('DELETE', `${base}/nodes/n1`)).code).toBe(405);
  expect((await api.post(`${base}/nodes`, {})).code).toBe(405);
  expect(asked).toEqual([]);
});

test('a protobuf client reads the same', async () => {
  const {code, headers} = await api.ask('GET', `${base}/nodes/n1`, undefined, {accept: 'application/vnd.kubernetes.protobuf'});
  expect([code, headers['content-type']]).toEqual([200, 'application/vnd.kubernetes.protobuf']);
});

describe('the first node brings', () => {
  const registration = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io';
  const groups = async (of: TestApi): Promise<string[]> => (await of.get('/apis')).body.groups.map(({name}: {name: string}) => name);
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

  test('its group to discovery, which is without it before', async () => {
    const empty = await TestApi.start({nodes: roads});
    expect(await groups(empty)).not.toContain('metrics.k8s.io');
    expect((await empty.get('/apis/metrics.k8s.io')).code).toBe(404);
    expect((await empty.get(registration)).code).toBe(404);
    const before = await empty.ask('GET', '/apis', undefined, aggregated);
    await empty.post('/api/v1/nodes', {kind: 'Node', metadata: {name: 'first'}});
    expect((await groups(empty)).at(-1)).toBe('metrics.k8s.io');
    const after = await empty.ask('GET', '/apis', undefined, aggregated);
    expect(after.headers['etag']).not.toBe(before.headers['etag']);
    expect(JSON.stringify(after.body)).toContain('NodeMetrics');
    await expect.poll(async () => (await empty.get(registration)).code).toBe(200);
    await empty.close();
  });

  test('its resources, as metrics-server tells them', async () => {
    expect((await api.get(base)).body.resources).toEqual([
      {name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list']},
      {name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list']},
    ]);
    const document = (await api.get('/openapi/v3/apis/metrics.k8s.io/v1beta1')).body;
    expect(Object.keys(document.components.schemas)).toContain('io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics');
  });

  test('a registration that is available, and the right to see figures for whoever may view', async () => {
    await expect.poll(async () => (await api.get(registration)).code).toBe(200);
    expect((await api.get(registration)).body.status.conditions[0]).toMatchObject({type: 'Available', status: 'True', reason: 'Local'});
    await expect.poll(async () => JSON.stringify((await api.get(`${roles}/view`)).body.rules)).toContain('metrics.k8s.io');
  });
});

test('another server that an administrator registered comes first', async () => {
  const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io';
  const {body} = await api.get(path);
  body.spec = {...body.spec, insecureSkipTLSVerify: true, service: {namespace: 'kube-system', name: 'metrics-server', port: 443}};
  expect((await api.ask('PUT', path, body)).code).toBe(200);
  const answer = await api.get(`${base}/nodes`);
  expect([answer.code, answer.body.reason]).toEqual([503, 'ServiceUnavailable']);
  expect(answer.body.message).toContain('kube-system/metrics-server');
  expect(asked).toEqual([]);
});
