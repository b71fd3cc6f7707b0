import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {configMap, TestApi, until} from '../../test/api.ts';
import {groupVersion} from '../object.ts';
import {catalogue} from '../registry/catalogue.ts';
import type {Store} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';

let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start();
});
afterEach(() => api.close());

const namespaces = '/api/v1/namespaces';
const made = async (name: string, own = api) => {
  expect((await own.post(namespaces, {metadata: {name}})).code).toBe(201);
  return `${namespaces}/${name}/configmaps`;
};
const gone = (name: string, own = api) => until(async () => (await own.get(`${namespaces}/${name}`)).code === 404);
const turns = async (count = 50) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};
/** How many objects of any type are stored in a namespace. */
const contentOf = async (name: string, store: Store): Promise<number> => {
  let count = 0;
  for (const type of (await store.counts()).keys()) count += (await store.scan(type, {prefix: `${name}/`})).items.length;
  return count;
};

test('a namespace that is deleted takes everything in it along, of every type', async () => {
  const configMaps = await made('full');
  await Promise.all(Array.from({length: 30}, (_, at) => api.post(configMaps, configMap(`c${at}`))));
  const inIt = [
    ['/api/v1/namespaces/full/pods', {metadata: {name: 'p'}, spec: {containers: [{name: 'c', image: 'i'}]}}],
    ['/api/v1/namespaces/full/services', {metadata: {name: 's'}, spec: {type: 'NodePort', ports: [{port: 1, nodePort: 30_100}]}}],
    ['/apis/rbac.authorization.k8s.io/v1/namespaces/full/roles', {metadata: {name: 'r'}, rules: []}],
    ['/apis/coordination.k8s.io/v1/namespaces/full/leases', {metadata: {name: 'l'}, spec: {}}],
    [
      '/apis/events.k8s.io/v1/namespaces/full/events',
      {
        metadata: {name: 'e'},
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'a.b/c',
        reportingInstance: 'i',
        action: 'a',
        reason: 'r',
        type: 'Normal',
        regarding: {namespace: 'full'},
      },
    ],
  ] as const;
  for (const [url, body] of inIt) {
    const answer = await api.post(url, body);
    expect([answer.code, answer.body.message]).toEqual([201, answer.body.message]);
  }
  const {body} = await api.delete(`${namespaces}/full`);
  expect(body).toMatchObject({kind: 'Namespace', status: {phase: 'Terminating'}, metadata: {deletionTimestamp: expect.any(String)}});
  await gone('full');
  expect(await contentOf('full', api.api.store)).toBe(0);
  const {code} = await api.post('/api/v1/namespaces/default/services', {
    metadata: {name: 'heir'},
    spec: {type: 'NodePort', ports: [{port: 1, nodePort: 30_100}]},
  });
  expect(code).toBe(201);
});

test('what waits for a finalizer keeps it, and its status says so', async () => {
  const configMaps = await made('held');
  await api.post(configMaps, configMap('slow', {metadata: {name: 'slow', finalizers: ['example.com/slow']}}));
  await api.delete(`${namespaces}/held`);
  await until(async () => (await api.get(`${namespaces}/held`)).body.status.conditions?.length === 5);
  const {conditions} = (await api.get(`${namespaces}/held`)).body.status;
  expect(
    Object.fromEntries(
      conditions.map((each: {type: string; status: string; message: string}) => [each.type, `${each.status} ${each.message}`]),
    ),
  ).toEqual({
    NamespaceDeletionDiscoveryFailure: 'False All resources successfully discovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False All legacy kube types successfully parsed',
    NamespaceDeletionContentFailure: 'False All content successfully deleted, may be waiting on finalization',
    NamespaceContentRemaining: 'True Some resources are remaining: configmaps. has 1 resource instances',
    NamespaceFinalizersRemaining: 'True Some content in the namespace has finalizers remaining: example.com/slow in 1 resource instances',
  });
  expect(conditions[0].lastTransitionTime).toBe('2026-01-01T00:00:00Z');
  await api.mergePatch(`${configMaps}/slow`, {metadata: {finalizers: null}});
  await turns();
  api.clock.advance(15_000);
  await gone('held');
});

test('nothing new is made in it, what is there can still be written', async () => {
  const configMaps = await made('going');
  await api.post(configMaps, configMap('slow', {metadata: {name: 'slow', finalizers: ['example.com/slow']}}));
  await api.delete(`${namespaces}/going`);
  const {body} = await api.post(configMaps, configMap('late'));
  expect(body).toMatchObject({
    code: 403,
    reason: 'Forbidden',
    message: 'configmaps "late" is forbidden: unable to create new content in namespace going because it is being terminated',
    details: {causes: [{reason: 'NamespaceTerminating'}]},
  });
  expect((await api.mergePatch(`${configMaps}/slow`, {data: {a: 'b'}})).code).toBe(200);
  await api.mergePatch(`${configMaps}/slow`, {metadata: {finalizers: null}});
});

test('it stays until whoever finalizes it has let go', async () => {
  await api.post(namespaces, {metadata: {name: 'mine'}, spec: {finalizers: ['example.com/mine']}});
  expect((await api.get(`${namespaces}/mine`)).body.spec.finalizers).toEqual(['example.com/mine', 'kubernetes']);
  await api.delete(`${namespaces}/mine`);
  await until(async () => !(await api.get(`${namespaces}/mine`)).body.spec.finalizers.includes('kubernetes'));
  const {body} = await api.get(`${namespaces}/mine`);
  expect(body.spec.finalizers).toEqual(['example.com/mine']);
  body.spec.finalizers = [];
  const plain = await api.put(`${namespaces}/mine`, body);
  expect(plain.body.spec.finalizers).toEqual(['example.com/mine']);
  body.metadata.resourceVersion = plain.body.metadata.resourceVersion;
  expect((await api.put(`${namespaces}/mine/finalize`, body)).code).toBe(200);
  expect((await api.get(`${namespaces}/mine`)).code).toBe(404);
});

test.each(['default', 'kube-system', 'kube-public'])('%s stays for ever', async (name) => {
  expect((await api.delete(`${namespaces}/${name}`)).body).toMatchObject({
    code: 403,
    message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
  });
});

test('of everything that is served there is nothing that would be left behind', () => {
  const kept = [...catalogue().stored()].filter(
    (resource) => resource.namespaced && !(resource.verbs.includes('list') && resource.verbs.includes('delete')),
  );
  expect(kept.map((resource) => `${groupVersion(resource)} ${resource.resource}`)).toEqual([]);
});

describe('creators that race with the deletion', () => {
  test('are refused or their work is gone: nothing is left in a namespace that is not there', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `raced${round}`;
      const configMaps = await made(name);
      const answers: number[] = [];
      const writers = Array.from({length: 10}, async (_, writer) => {
        for (let at = 0; ; at++) {
          const {code} = await api.post(configMaps, configMap(`w${writer}-${at}`));
          answers.push(code);
          if (code !== 201) return;
        }
      });
      await turns(round);
      await api.delete(`${namespaces}/${name}`);
      await Promise.all(writers);
      await gone(name);
      expect(new Set(answers)).toEqual(new Set([201, ...answers.filter((code) => code === 403 || code === 404)]));
      expect(await contentOf(name, api.api.store)).toBe(0);
    }
  });

  test('however late their write reaches the store', async () => {
    const inner = await openMemory();
    let release = () => {};
    const isHeld = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = () => {};
    const hasArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const append: Store['append'] = async (write) => {
      if (write.key === 'slow/late') {
        arrived();
        await isHeld;
      }
      return inner.append(write);
    };
    const get = (target: Store, name: keyof Store) => (name === 'append' ? append : target[name]?.bind(target));
    const own = await TestApi.start({store: new Proxy(inner, {get: get as ProxyHandler<Store>['get'] & {}})});
    const configMaps = await made('slow', own);
    const late = own.post(configMaps, configMap('late'));
    await hasArrived;
    await own.delete(`${namespaces}/slow`);
    for (let round = 0; round < 20; round++) {
      await turns(20);
      own.clock.advance(5_000);
    }
    release();
    await late;
    for (let round = 0; round < 5; round++) {
      await turns(20);
      own.clock.advance(5_000);
    }
    await gone('slow', own);
    expect(await contentOf('slow', own.api.store)).toBe(0);
    await own.close();
  });
});

test('one that is made again is another one', async () => {
  const configMaps = await made('again');
  await api.post(configMaps, configMap('old'));
  const {body: before} = await api.get(`${namespaces}/again`);
  await api.delete(`${namespaces}/again`);
  await gone('again');
  await made('again');
  expect((await api.get(`${namespaces}/again`)).body.metadata.uid).not.toBe(before.metadata.uid);
  expect((await api.get(`${configMaps}/old`)).code).toBe(404);
});
