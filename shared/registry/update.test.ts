import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

const made = async (name: string, more: object = {}) => (await api.post(configMaps, configMap(name, {data: {k: '1'}, ...more}))).body;
const head = async () => (await api.get(configMaps)).body.metadata.resourceVersion as string;

describe('a version', () => {
  test('that is stale conflicts, in the words that clients look for', async () => {
    const object = await made('stale');
    await api.put(`${configMaps}/stale`, {...object, data: {k: '2'}});
    const late = await api.put(`${configMaps}/stale`, {...object, data: {k: '3'}});
    expect(late.body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
    });
    expect((await api.get(`${configMaps}/stale`)).body.data).toEqual({k: '2'});
  });

  test('that is left out writes whatever is stored', async () => {
    await made('unconditional');
    const {code, body} = await api.put(`${configMaps}/unconditional`, configMap('unconditional', {data: {k: '2'}}));
    expect([code, body.data]).toEqual([200, {k: '2'}]);
  });

  test('must be named where a kind asks for it', async () => {
    const crb = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    await api.post(crb, {metadata: {name: 'l'}, spec: {}});
    const {body} = await api.put(`${crb}/l`, {metadata: {name: 'l'}, spec: {holderIdentity: 'x'}});
    expect(body).toMatchObject({
      code: 422,
      message: expect.stringContaining('metadata.resourceVersion: Invalid value: 0: must be specified for an update'),
    });
  });
});

test('a write that changes nothing is no write: same version, no event', async () => {
  const object = await made('same');
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${await head()}&fieldSelector=metadata.name%3Dsame`);
  const again = await api.put(`${configMaps}/same`, object);
  expect(again.body).toEqual(object);
  expect((await api.mergePatch(`${configMaps}/same`, {data: {k: '1'}})).body).toEqual(object);
  await api.mergePatch(`${configMaps}/same`, {data: {k: '2'}});
  const [event] = await watch.next(1);
  expect(event!.object.data).toEqual({k: '2'});
  expect(watch.events).toEqual([]);
  await watch.close();
});

describe('identity', () => {
  test('another uid means another object', async () => {
    const object = await made('who');
    const {code, body} = await api.put(`${configMaps}/who`, {...object, metadata: {...object.metadata, uid: 'other'}});
    expect([code, body.reason]).toEqual([409, 'Conflict']);
    expect(body.message).toContain('Precondition failed: UID in precondition: other, UID in object meta: ');
  });

  test('the name in the body is the name in the path', async () => {
    await made('here');
    expect((await api.put(`${configMaps}/here`, configMap('there'))).body.message).toBe(
      'the name of the object (there) does not match the name on the URL (here)',
    );
    expect((await api.put(`${configMaps}/here`, {data: {}})).code).toBe(400);
  });

  test('what the server set cannot be changed', async () => {
    const object = await made('kept');
    const {body} = await api.put(`${configMaps}/kept`, {
      ...object,
      data: {k: '2'},
      metadata: {...object.metadata, creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x'},
    });
    expect(body.metadata.creationTimestamp).toBe(object.metadata.creationTimestamp);
    expect(body.metadata.uid).toBe(object.metadata.uid);
    expect(body.metadata.selfLink).toBeUndefined();
  });
});

describe('an object that is not there', () => {
  test('is NotFound', async () => {
    expect((await api.put(`${configMaps}/absent`, configMap('absent'))).body).toMatchObject({
      code: 404,
      message: 'configmaps "absent" not found',
    });
  });

  test('is made, for kinds that allow it', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const lease = {metadata: {name: 'fresh'}, spec: {holderIdentity: 'x'}};
    const {code, body} = await api.put(`${leases}/fresh`, lease);
    expect([code, body.metadata.name, body.spec.holderIdentity]).toEqual([201, 'fresh', 'x']);
  });

  test('comes into being once when many write it for the first time', async () => {
    const url = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/contended';
    const put = (by: string) => api.put(url, {metadata: {name: 'contended', labels: {by}}, rules: []});
    const codes = (await Promise.all(['a', 'b', 'c', 'd'].map(put))).map(({code}) => code);
    expect(codes.sort()).toEqual([200, 200, 200, 201]);
  });

  test('does not come into being by the hand of one who may only update', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update']}];
    await api.post(`${roles}/roles`, {metadata: {name: 'renewer'}, rules});
    const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'renewer'};
    const subjects = [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob'}];
    await api.post(`${roles}/rolebindings`, {metadata: {name: 'bob-renews'}, roleRef, subjects});
    const lease = {metadata: {name: 'forbidden'}, spec: {holderIdentity: 'x'}};
    const user = {name: 'bob', groups: ['system:authenticated']};
    const url = '/apis/coordination.k8s.io/v1/namespaces/default/leases/forbidden';
    const refused = await api.ask('PUT', url, lease, {}, {user});
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'leases.coordination.k8s.io "forbidden" is forbidden: User "bob" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"',
    ]);
    expect((await api.get(url)).code).toBe(404);
  });
});

test('a generation is what the server counted, whatever is sent', async () => {
  await made('counted', {metadata: {name: 'counted', generation: 5}});
  const {code, body} = await api.put(
    `${configMaps}/counted`,
    configMap('counted', {metadata: {name: 'counted', generation: 9}, data: {k: '2'}}),
  );
  expect([code, body.metadata.generation]).toEqual([200, 5]);
  await made('uncounted');
  const patched = await api.mergePatch(`${configMaps}/uncounted`, {metadata: {generation: 9}, data: {k: '2'}});
  expect([patched.code, patched.body.metadata.generation]).toEqual([200, undefined]);
});

test('writers that read before they write lose nothing', async () => {
  await made('counter', {data: {n: '0'}});
  const increment = async (): Promise<void> => {
    for (;;) {
      const {body} = await api.get(`${configMaps}/counter`);
      const written = await api.put(`${configMaps}/counter`, {...body, data: {n: String(Number(body.data.n) + 1)}});
      if (written.code === 200) return;
      expect(written.code).toBe(409);
    }
  };
  await Promise.all(Array.from({length: 20}, increment));
  expect((await api.get(`${configMaps}/counter`)).body.data.n).toBe('20');
});

test('spec is written by the object, status by its subresource', async () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const template = {metadata: {labels: {a: 'b'}}, spec: {containers: [{name: 'c', image: 'i'}]}};
  const {body: object} = await api.post(deployments, {
    metadata: {name: 'd'},
    spec: {replicas: 1, selector: {matchLabels: {a: 'b'}}, template},
    status: {replicas: 5},
  });
  expect(object.status.replicas ?? 0).toBe(0);
  const changed = {...object, spec: {...object.spec, replicas: 3}, status: {observedGeneration: 1, replicas: 2}};
  const plain = await api.put(`${deployments}/d`, changed);
  expect([plain.body.spec.replicas, plain.body.status.replicas ?? 0, plain.body.metadata.generation]).toEqual([3, 0, 2]);
  const status = await api.put(`${deployments}/d/status`, {
    ...changed,
    spec: {...changed.spec, replicas: 9},
    metadata: {...object.metadata, resourceVersion: ''},
  });
  expect([status.body.spec.replicas, status.body.status.replicas, status.body.metadata.generation]).toEqual([3, 2, 2]);
});
