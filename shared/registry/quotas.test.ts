import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, TestApi} from '../../test/api.ts';
import {type Session, type Store, StoreError, type Write} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';

const inNamespace = (namespace: string, plural: string): string => `/api/v1/namespaces/${namespace}/${plural}`;
const exceeded = (used: number) =>
  expect.stringContaining(
    `exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=${used}, limited: count/configmaps=${used}`,
  );

/** A namespace with a quota whose usage is known, as the quota controller would make it so. */
async function limited(api: TestApi, namespace: string, hard: Record<string, string>, used: Record<string, string>): Promise<string> {
  await api.post('/api/v1/namespaces', {metadata: {name: namespace}});
  const quotas = inNamespace(namespace, 'resourcequotas');
  expect((await api.post(quotas, {metadata: {name: 'q'}, spec: {hard}})).code).toBe(201);
  await api.mergePatch(`${quotas}/q/status`, {status: {hard, used}});
  return `${quotas}/q`;
}

describe('in a store of its own', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await TestApi.start();
  });
  afterAll(() => api.close());

  test('what is created is charged, up to the limit', async () => {
    const quota = await limited(api, 'a', {'count/configmaps': '2'}, {'count/configmaps': '1'});
    const maps = inNamespace('a', 'configmaps');
    expect((await api.post(`${maps}?dryRun=All`, configMap('dry'))).code).toBe(201);
    expect((await api.post(maps, configMap('one'))).code).toBe(201);
    const refused = await api.post(maps, configMap('two'));
    expect(refused.body).toMatchObject({code: 403, reason: 'Forbidden', details: {name: 'two', kind: 'configmaps'}});
    expect(refused.body.message).toEqual(exceeded(2));
    const {body} = await api.get(quota);
    expect(body.status.used).toEqual({'count/configmaps': '2'});
    expect(body.metadata.managedFields).toContainEqual({
      manager: 'kube-apiserver',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      operation: 'Update',
      subresource: 'status',
      fieldsV1: {'f:status': {'f:used': {'f:count/configmaps': {}}}},
    });
  });

  test('what goes is not given back: that is for who counts', async () => {
    const quota = await limited(api, 'b', {'count/configmaps': '2'}, {'count/configmaps': '0'});
    const maps = inNamespace('b', 'configmaps');
    await api.post(maps, configMap('one'));
    await api.delete(`${maps}/one`);
    expect((await api.get(quota)).body.status.used).toEqual({'count/configmaps': '1'});
  });

  test('many at once get exactly as much as there is', async () => {
    const quota = await limited(api, 'c', {'count/configmaps': '20'}, {'count/configmaps': '0'});
    const maps = inNamespace('c', 'configmaps');
    const answers = await Promise.all(Array.from({length: 50}, (_, n) => api.post(maps, configMap(`m${n}`))));
    expect(answers.filter(({code}) => code === 201)).toHaveLength(20);
    for (const {body} of answers.filter(({code}) => code !== 201)) expect(body.message).toEqual(exceeded(20));
    expect((await api.get(quota)).body.status.used).toEqual({'count/configmaps': '20'});
  });

  test('a quota that has gone has no say', async () => {
    const quota = await limited(api, 'd', {'count/configmaps': '0'}, {'count/configmaps': '0'});
    const maps = inNamespace('d', 'configmaps');
    expect((await api.post(maps, configMap('one'))).code).toBe(403);
    await api.delete(quota);
    expect((await api.post(maps, configMap('one'))).code).toBe(201);
  });
});

describe('somebody who is faster', () => {
  let api: TestApi;
  /** What happens before a quota is written, while the test has something to happen. */
  let before: (() => Promise<unknown>) | undefined;
  beforeAll(async () => {
    const inner = await openMemory();
    const append: Store['append'] = async (write) => {
      const first = write.type === 'resourcequotas' ? before : undefined;
      before = undefined;
      await first?.();
      return inner.append(write);
    };
    api = await TestApi.start({
      store: new Proxy(inner, {
        get: (target, name: keyof Store) =>
          name === 'append' ? append : typeof target[name] === 'function' ? target[name].bind(target) : undefined,
      }),
    });
  });
  afterAll(() => api.close());

  test('takes the last that there is', async () => {
    const quota = await limited(api, 'a', {'count/configmaps': '2'}, {'count/configmaps': '1'});
    before = () => api.mergePatch(`${quota}/status`, {status: {used: {'count/configmaps': '2'}}});
    expect((await api.post(inNamespace('a', 'configmaps'), configMap('one'))).body.message).toEqual(exceeded(2));
  });

  test('takes the quota away', async () => {
    const quota = await limited(api, 'b', {'count/configmaps': '2'}, {'count/configmaps': '0'});
    before = () => api.delete(quota);
    expect((await api.post(inNamespace('b', 'configmaps'), configMap('one'))).code).toBe(201);
  });

  test('again and again is a conflict', async () => {
    const quota = await limited(api, 'c', {'count/configmaps': '2'}, {'count/configmaps': '0'});
    let times = 0;
    const again = async (): Promise<void> => {
      await api.mergePatch(quota, {metadata: {labels: {times: String(++times)}}});
      before = again;
    };
    before = again;
    const {body} = await api.post(inNamespace('c', 'configmaps'), configMap('one'));
    before = undefined;
    expect(body).toMatchObject({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on resourcequotas "q": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  test('does not charge what was charged to other quotas', async () => {
    const quota = await limited(api, 'd', {'count/configmaps': '5'}, {'count/configmaps': '0'});
    const other = quota.replace(/q$/, 'other');
    const hard = {'count/configmaps': '9'};
    await api.post(inNamespace('d', 'resourcequotas'), {metadata: {name: 'other'}, spec: {hard}});
    await api.mergePatch(`${other}/status`, {status: {hard, used: {'count/configmaps': '0'}}});
    before = () => api.mergePatch(other, {metadata: {labels: {a: 'b'}}});
    expect((await api.post(inNamespace('d', 'configmaps'), configMap('one'))).code).toBe(201);
    for (const each of [quota, other]) expect((await api.get(each)).body.status.used).toEqual({'count/configmaps': '1'});
  });
});

describe('in a store that others write as well', () => {
  const marker = 'quotamarkers.internal';
  let api: TestApi;
  let inner: Store;
  /** What is asked of the store, while somebody wants to know. */
  let asked: string[] | undefined;
  /** Somebody who is faster, once. */
  let faster: ((write: Write) => Promise<unknown>) | undefined;
  let moves = 0;

  beforeAll(async () => {
    inner = await openMemory();
    const own: Partial<Session> = {
      read(type, key) {
        asked?.push(`read ${type}`);
        return inner.read(type, key);
      },
      scan(type, options) {
        asked?.push(`scan ${type}`);
        return inner.scan(type, options);
      },
      async append(write) {
        if (moves > 0 && moves--) throw new StoreError('ConfigurationMoved', 'configuration has moved');
        const first = faster;
        faster = undefined;
        await first?.(write);
        asked?.push(`append ${write.type}`);
        return inner.append(write);
      },
      confirm: async () => {},
    };
    const over = (methods: Partial<Session>) =>
      new Proxy(inner, {get: (target, name: keyof Session) => methods[name] ?? (target as Session)[name]?.bind(target)}) as Session;
    const session = over(own);
    api = await TestApi.start({store: over({...own, begin: async () => session})});
  });
  afterAll(() => api.close());

  const askedBy = async (work: () => Promise<unknown>): Promise<string[]> => {
    asked = [];
    await work();
    const all = asked;
    asked = undefined;
    return all;
  };

  test('nothing is asked where there is no quota; where there is, one read', async () => {
    await limited(api, 'a', {'count/configmaps': '5'}, {'count/configmaps': '0'});
    const create = (namespace: string, name: string) => askedBy(() => api.post(inNamespace(namespace, 'configmaps'), configMap(name)));
    await create('default', 'first');
    expect(await create('default', 'second')).toEqual(['append configmaps']);
    expect(await create('a', 'third')).toEqual(['read resourcequotas', 'append resourcequotas', 'append configmaps']);
  });

  test('a marker is there before its quota, and goes after it', async () => {
    const written = await askedBy(() => limited(api, 'b', {pods: '5'}, {pods: '0'}));
    expect(written.filter((each) => /append.*quota/.test(each))).toEqual([
      `append ${marker}`,
      'append resourcequotas',
      'append resourcequotas',
    ]);
    expect((await inner.scan(marker, {prefix: 'b/'})).items).toHaveLength(1);
    const removed = await askedBy(() => api.delete(`${inNamespace('b', 'resourcequotas')}/q`));
    expect(removed.filter((each) => each.startsWith('append'))).toEqual(['append resourcequotas', `append ${marker}`]);
    expect((await inner.scan(marker, {prefix: 'b/'})).items).toEqual([]);
  });

  test('a quota whose name is taken leaves no marker', async () => {
    await limited(api, 'c', {pods: '5'}, {pods: '0'});
    expect((await api.post(inNamespace('c', 'resourcequotas'), {metadata: {name: 'q'}, spec: {hard: {pods: '1'}}})).code).toBe(409);
    expect((await inner.scan(marker, {prefix: 'c/'})).items).toHaveLength(1);
  });

  test('a request that has to begin again charges once', async () => {
    const quota = await limited(api, 'd', {'count/configmaps': '5'}, {'count/configmaps': '0'});
    moves = 1;
    expect((await api.post(inNamespace('d', 'configmaps'), configMap('one'))).code).toBe(201);
    expect((await api.get(quota)).body.status.used).toEqual({'count/configmaps': '1'});
  });

  test('who finds that somebody was faster charges what is left', async () => {
    const quota = await limited(api, 'e', {'count/configmaps': '5'}, {'count/configmaps': '0'});
    const others = api.mergePatch;
    faster = () => {
      const settled = others(`${quota}/status`, {status: {used: {'count/configmaps': '4'}}});
      return settled.then(() => void setImmediate(() => api.clock.advance(1_000)));
    };
    expect((await api.post(inNamespace('e', 'configmaps'), configMap('one'))).code).toBe(201);
    expect((await api.get(quota)).body.status.used).toEqual({'count/configmaps': '5'});
  });
});
