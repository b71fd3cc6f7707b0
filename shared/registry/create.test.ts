import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';
import {type Store, StoreError} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

describe('what the server sets', () => {
  test('uid, version, time and manager; what the client says of them does not count', async () => {
    const {code, body} = await api.post(configMaps, {
      metadata: {
        name: 'mine',
        uid: 'forged',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 7,
        selfLink: '/x',
        managedFields: [{manager: 'forged', operation: 'Update', apiVersion: 'v1'}],
      },
      data: {k: 'v'},
    });
    expect(code).toBe(201);
    const {metadata} = body;
    expect(metadata).toMatchObject({name: 'mine', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z'});
    expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    for (const absent of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'generation'])
      expect(metadata).not.toHaveProperty(absent);
    expect(body.kind).toBe('ConfigMap');
    expect((await api.get(`${configMaps}/mine`)).body).toEqual(body);
  });

  test('generation, where a kind has a spec to count', async () => {
    const template = {metadata: {labels: {a: 'b'}}, spec: {containers: [{name: 'c', image: 'i'}]}};
    const {body} = await api.post('/apis/apps/v1/namespaces/default/deployments', {
      metadata: {name: 'd', generation: 9},
      spec: {selector: {matchLabels: {a: 'b'}}, template},
    });
    expect(body.metadata.generation).toBe(1);
  });

  test('a resourceVersion is refused', async () => {
    const {code, body} = await api.post(configMaps, configMap('versioned', {metadata: {name: 'versioned', resourceVersion: '5'}}));
    expect([code, body.message]).toEqual([400, 'resourceVersion should not be set on objects to be created']);
  });
});

describe('names', () => {
  test('one that is taken is AlreadyExists, and nothing changes', async () => {
    const first = await api.post(configMaps, configMap('taken', {data: {by: 'first'}}));
    const second = await api.post(configMaps, configMap('taken', {data: {by: 'second'}}));
    expect(second.body).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "taken" already exists',
      details: {name: 'taken', kind: 'configmaps'},
    });
    expect((await api.get(`${configMaps}/taken`)).body).toEqual(first.body);
  });

  test.each([
    ['', 422],
    ['Upper', 422],
    ['a/b', 422],
    ['a'.repeat(254), 422],
    ['a.b-c', 201],
  ])('%s: %i', async (name, code) => {
    expect((await api.post(configMaps, configMap(name))).code).toBe(code);
  });

  test('names of namespaces and services are stricter', async () => {
    expect((await api.post('/api/v1/namespaces', {metadata: {name: 'a.b'}})).body.reason).toBe('Invalid');
    expect((await api.post('/api/v1/namespaces/default/services', {metadata: {name: 'a.b'}, spec: {ports: [{port: 1}]}})).body.reason).toBe(
      'Invalid',
    );
  });

  test('a generated one ends in five letters, and keeps its base when both are given', async () => {
    const {body} = await api.post(configMaps, {metadata: {generateName: 'made-'}});
    expect(body.metadata.name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(body.metadata.generateName).toBe('made-');
    const named = await api.post(configMaps, {metadata: {name: 'named', generateName: 'made-'}});
    expect(named.body.metadata).toMatchObject({name: 'named', generateName: 'made-'});
  });

  test('a long base is cut so that the name fits', async () => {
    const {body} = await api.post(configMaps, {metadata: {generateName: 'x'.repeat(80)}});
    expect(body.metadata.name).toHaveLength(63);
  });
});

describe('a generated name that is taken', () => {
  /** A store in which the first so many ConfigMaps with a generated name meet one that is there. */
  const colliding = async (times: number): Promise<{store: Store; attempts: string[]}> => {
    const attempts: string[] = [];
    const inner = await openMemory();
    const append: Store['append'] = (write) => {
      if (!write.key.startsWith('default/made-')) return inner.append(write);
      attempts.push(write.key);
      if (attempts.length <= times) throw new StoreError('Exists', 'taken');
      return inner.append(write);
    };
    const get = (target: Store, name: keyof Store) => (name === 'append' ? append : target[name]?.bind(target));
    return {store: new Proxy(inner, {get: get as ProxyHandler<Store>['get'] & {}}), attempts};
  };

  test('is tried again with another ending', async () => {
    const {store, attempts} = await colliding(3);
    const own = await TestApi.start({store});
    const {code, body} = await own.post(configMaps, {metadata: {generateName: 'made-'}});
    expect(code).toBe(201);
    expect(new Set(attempts).size).toBe(4);
    expect(attempts.at(-1)).toBe(`default/${body.metadata.name}`);
    await own.close();
  });

  test('too often is AlreadyExists', async () => {
    const {store, attempts} = await colliding(99);
    const own = await TestApi.start({store});
    const {body} = await own.post(configMaps, {metadata: {generateName: 'made-'}});
    expect([body.code, body.reason]).toEqual([409, 'AlreadyExists']);
    expect(attempts).toHaveLength(8);
    await own.close();
  });
});

describe('namespaces', () => {
  test('the body may leave its namespace out but not name another', async () => {
    const other = await api.post(configMaps, {metadata: {name: 'x', namespace: 'other'}});
    expect([other.code, other.body.message]).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ]);
  });

  test('one that is not there takes nothing', async () => {
    const {body} = await api.post('/api/v1/namespaces/nowhere/configmaps', configMap('x'));
    expect([body.code, body.message]).toEqual([404, 'namespaces "nowhere" not found']);
  });

  test('a cluster-scoped object has none', async () => {
    const {code, body} = await api.post('/api/v1/namespaces', {metadata: {name: 'plain', namespace: ''}});
    expect([code, body.metadata.namespace]).toEqual([201, undefined]);
  });
});

test('of a hundred at once with one name exactly one succeeds', async () => {
  const answers = await Promise.all(
    Array.from({length: 100}, (_, at) => api.post(configMaps, configMap('contested', {data: {at: String(at)}}))),
  );
  expect(answers.filter(({code}) => code === 201)).toHaveLength(1);
  expect(answers.filter(({code}) => code === 409)).toHaveLength(99);
});
