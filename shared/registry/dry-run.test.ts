import {afterAll, beforeAll, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';

let api: TestApi;
let before: string;
beforeAll(async () => {
  api = await TestApi.start({serviceClusterIpRange: '10.9.0.0/24'});
  await api.post(configMaps, configMap('there', {data: {a: 'b'}}));
  await api.post(services, service('there'));
  await api.post(deployments, deployment('there'));
  await api.post(pods, pod);
  await api.post(serviceAccounts, {metadata: {name: 'robot'}});
  before = await world();
});
afterAll(() => api.close());

const namespace = '/api/v1/namespaces/default';
const services = `${namespace}/services`;
const pods = `${namespace}/pods`;
const serviceAccounts = `${namespace}/serviceaccounts`;
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const service = (name: string, more: object = {}) => ({metadata: {name}, spec: {type: 'NodePort', ports: [{port: 80}], ...more}});
const pod = {metadata: {name: 'there'}, spec: {containers: [{name: 'c', image: 'i'}]}};
const deployment = (name: string) => ({
  metadata: {name},
  spec: {selector: {matchLabels: {a: 'b'}}, template: {metadata: {labels: {a: 'b'}}, spec: {containers: [{name: 'c', image: 'i'}]}}},
});

/** Everything that a trace could be left in: revisions, objects, claims. */
async function world(): Promise<string> {
  const {store} = api.api;
  const counts = await store.counts();
  const types = [...counts.keys()].sort();
  const heads = await Promise.all(types.map(async (type) => `${type} ${counts.get(type)} ${await store.head(type)}`));
  return heads.join('\n');
}

type Call = [what: string, method: string, url: string, body: unknown, code: number, type?: string];
const merge = 'application/merge-patch+json';
const calls: Call[] = [
  ['create', 'POST', configMaps, configMap('new'), 201],
  ['create with a generated name', 'POST', configMaps, {metadata: {generateName: 'new-'}}, 201],
  ['create of what is there', 'POST', configMaps, configMap('there'), 409],
  ['create of what is invalid', 'POST', configMaps, configMap('Not A Name'), 422],
  ['create of a namespace', 'POST', '/api/v1/namespaces', {metadata: {name: 'new'}}, 201],
  ['create of a service', 'POST', services, service('new'), 201],
  [
    'create of a service with an address',
    'POST',
    services,
    service('new', {clusterIP: '10.9.0.5', ports: [{port: 80, nodePort: 30_123}]}),
    201,
  ],
  ['update', 'PUT', `${configMaps}/there`, configMap('there', {data: {c: 'd'}}), 200],
  [
    'update that makes an object',
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/default/leases/new',
    {metadata: {name: 'new'}, spec: {}},
    201,
  ],
  ['update of a service', 'PUT', `${services}/there`, service('there', {type: 'LoadBalancer', externalTrafficPolicy: 'Local'}), 200],
  ['merge patch', 'PATCH', `${configMaps}/there`, {data: {c: 'd'}}, 200, merge],
  ['JSON patch', 'PATCH', `${configMaps}/there`, [{op: 'remove', path: '/data/a'}], 200, 'application/json-patch+json'],
  ['strategic merge patch', 'PATCH', `${deployments}/there`, {spec: {replicas: 5}}, 200, 'application/strategic-merge-patch+json'],
  ['status', 'PUT', `${deployments}/there/status`, {...deployment('there'), status: {replicas: 5}}, 200],
  ['scale', 'PUT', `${deployments}/there/scale`, {metadata: {name: 'there'}, spec: {replicas: 5}}, 200],
  ['binding', 'POST', `${pods}/there/binding`, {metadata: {name: 'there'}, target: {kind: 'Node', name: 'n'}}, 201],
  ['eviction', 'POST', `${pods}/there/eviction`, {metadata: {name: 'there'}}, 201],
  ['delete', 'DELETE', `${configMaps}/there`, undefined, 200],
  ['delete in the foreground', 'DELETE', `${deployments}/there`, {propagationPolicy: 'Foreground'}, 200],
  ['delete of a service', 'DELETE', `${services}/there`, undefined, 200],
  ['delete of a namespace', 'DELETE', '/api/v1/namespaces/kube-node-lease', undefined, 200],
  ['delete of a collection', 'DELETE', configMaps, undefined, 200],
  ['delete of what is not there', 'DELETE', `${configMaps}/nope`, undefined, 404],
];

test.each(calls)('%s leaves no trace', async (_what, method, url, body, code, type) => {
  const headers: Record<string, string> = type ? {'content-type': type} : {};
  const viaBody = method === 'DELETE' && body !== undefined;
  const answer = await api.ask(
    method,
    viaBody ? url : `${url}?dryRun=All`,
    viaBody ? {...(body as object), dryRun: ['All']} : body,
    headers,
  );
  expect([answer.code, answer.body?.message]).toEqual([code, code < 400 ? answer.body?.message : expect.any(String)]);
  expect(await world()).toBe(before);
});

test('the answer is what would have been', async () => {
  const {body} = await api.post(`${services}?dryRun=All`, service('new'));
  expect(body.metadata.uid).toBeTruthy();
  expect(body.metadata.resourceVersion).toBeUndefined();
  expect(body.spec.clusterIP).toMatch(/^10\.9\.0\.\d+$/);
  const patched = await api.mergePatch(`${configMaps}/there?dryRun=All`, {data: {c: 'd'}});
  expect(patched.body.data).toEqual({a: 'b', c: 'd'});
});

test('what it was given in name only is free for the next', async () => {
  await api.post(`${services}?dryRun=All`, service('new', {clusterIP: '10.9.0.5', ports: [{port: 80, nodePort: 30_200}]}));
  const {code, body} = await api.post(services, service('real', {clusterIP: '10.9.0.5', ports: [{port: 80, nodePort: 30_200}]}));
  expect([code, body.spec?.clusterIP]).toEqual([201, '10.9.0.5']);
});

test('no watcher hears of it', async () => {
  const {body} = await api.get(configMaps);
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  await api.post(`${configMaps}?dryRun=All`, configMap('silent'));
  await api.mergePatch(`${configMaps}/there?dryRun=All`, {data: {c: 'd'}});
  await api.delete(`${configMaps}/there?dryRun=All`);
  await api.post(configMaps, configMap('loud'));
  expect((await watch.next(1))[0]!.object.metadata.name).toBe('loud');
  await watch.close();
});

test.each(['Some', 'all', 'All&dryRun=Some'])('%s is no dry run: 422', async (value) => {
  expect((await api.post(`${configMaps}?dryRun=${value}`, configMap('x'))).body.reason).toBe('Invalid');
  expect((await api.get(`${configMaps}/x`)).code).toBe(404);
});
