import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

const pods = '/api/v1/namespaces/default/pods';
const held = (name: string, finalizers: string[]) => configMap(name, {metadata: {name, finalizers}});
const pod = (name: string, more: object = {}) => ({metadata: {name}, spec: {containers: [{name: 'c', image: 'i'}], ...more}});

describe('an object', () => {
  test('goes, and its Status says which one', async () => {
    const {body: made} = await api.post(configMaps, configMap('plain'));
    const {code, body} = await api.delete(`${configMaps}/plain`);
    expect([code, body]).toEqual([
      200,
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: {name: 'plain', kind: 'configmaps', uid: made.metadata.uid},
      },
    ]);
    expect((await api.get(`${configMaps}/plain`)).code).toBe(404);
    expect((await api.delete(`${configMaps}/plain`)).body.reason).toBe('NotFound');
  });

  test('with finalizers is marked, and goes when the last of them is taken off', async () => {
    await api.post(configMaps, held('held', ['example.com/a', 'example.com/b']));
    const {code, body} = await api.delete(`${configMaps}/held`);
    expect([code, body.kind, body.metadata.deletionTimestamp, body.metadata.deletionGracePeriodSeconds]).toEqual([
      200,
      'ConfigMap',
      '2026-01-01T00:00:00Z',
      0,
    ]);
    const again = await api.delete(`${configMaps}/held`);
    expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    expect((await api.mergePatch(`${configMaps}/held`, {metadata: {finalizers: ['example.com/b']}})).code).toBe(200);
    expect((await api.get(`${configMaps}/held`)).code).toBe(200);
    const last = await api.mergePatch(`${configMaps}/held`, {metadata: {finalizers: null}});
    expect([last.code, last.body.metadata.name]).toEqual([200, 'held']);
    expect((await api.get(`${configMaps}/held`)).code).toBe(404);
  });

  test('that is going takes no new finalizers, and cannot come back', async () => {
    await api.post(configMaps, held('going', ['example.com/a']));
    await api.delete(`${configMaps}/going`);
    const more = await api.mergePatch(`${configMaps}/going`, {metadata: {finalizers: ['example.com/a', 'example.com/new']}});
    expect(more.body).toMatchObject({
      code: 422,
      message: expect.stringContaining('no new finalizers can be added if the object is being deleted'),
    });
    const back = await api.mergePatch(`${configMaps}/going`, {metadata: {deletionTimestamp: null}});
    expect([200, 422]).toContain(back.code);
    expect((await api.get(`${configMaps}/going`)).body.metadata.deletionTimestamp).toBeTruthy();
    expect((await api.post(configMaps, configMap('going'))).body.reason).toBe('AlreadyExists');
  });
});

describe('preconditions', () => {
  test('name the uid and the version that are meant', async () => {
    const {body: made} = await api.post(configMaps, configMap('meant'));
    const wrongUid = await api.delete(`${configMaps}/meant`, {preconditions: {uid: 'other'}});
    expect(wrongUid.body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: expect.stringContaining(`the UID in the precondition (other) does not match the UID in record (${made.metadata.uid})`),
    });
    const wrongVersion = await api.delete(`${configMaps}/meant`, {preconditions: {resourceVersion: '1'}});
    expect(wrongVersion.body).toMatchObject({
      code: 409,
      message: expect.stringContaining('the ResourceVersion in the precondition (1) does not match'),
    });
    const right = await api.delete(`${configMaps}/meant`, {
      preconditions: {uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion},
    });
    expect(right.code).toBe(200);
  });

  test('hold while others write', async () => {
    const {body: made} = await api.post(configMaps, configMap('raced'));
    const {resourceVersion} = made.metadata;
    const [write, removal] = await Promise.all([
      api.mergePatch(`${configMaps}/raced`, {data: {a: 'b'}}),
      api.delete(`${configMaps}/raced`, {preconditions: {resourceVersion}}),
    ]);
    // Whoever came first, the other one lost: never both.
    expect([write.code === 200, removal.code === 200].filter(Boolean)).toHaveLength(1);
  });
});

describe('options', () => {
  test.each([
    [{propagationPolicy: 'Sideways'}, 422, 'Unsupported value: "Sideways"'],
    [{propagationPolicy: 'Orphan', orphanDependents: true}, 422, 'orphanDependents and deletionPropagation cannot be both set'],
    [{dryRun: ['Some']}, 422, 'dryRun'],
    [{kind: 'Pod', apiVersion: 'v1'}, 400, 'Pod'],
  ])('%j is refused with %i', async (options, code, words) => {
    await api.post(configMaps, configMap('optioned'));
    const {body} = await api.delete(`${configMaps}/optioned`, options);
    expect(body.code).toBe(code);
    expect(body.message).toContain(words);
  });

  test('may stand in the query', async () => {
    await api.post(configMaps, configMap('queried'));
    expect((await api.delete(`${configMaps}/queried?dryRun=All&propagationPolicy=Background`)).code).toBe(200);
    expect((await api.get(`${configMaps}/queried`)).code).toBe(200);
    expect((await api.delete(`${configMaps}/queried?propagationPolicy=Foreground`)).body.metadata.finalizers).toEqual([
      'foregroundDeletion',
    ]);
  });
});

describe('pods', () => {
  const onNode = async (name: string) => {
    await api.post(pods, pod(name));
    await api.post(`${pods}/${name}/binding`, {metadata: {name}, target: {kind: 'Node', name: 'n'}});
  };

  test('on no node go at once', async () => {
    await api.post(pods, pod('unbound'));
    const {body} = await api.delete(`${pods}/unbound`);
    expect(body).toMatchObject({kind: 'Pod', metadata: {name: 'unbound', deletionGracePeriodSeconds: 0}});
    expect((await api.get(`${pods}/unbound`)).code).toBe(404);
  });

  test('on a node have their grace, which may become shorter but not longer', async () => {
    await onNode('bound');
    const first = await api.delete(`${pods}/bound`);
    expect(first.body.metadata).toMatchObject({deletionGracePeriodSeconds: 30, deletionTimestamp: '2026-01-01T00:00:30Z'});
    const longer = await api.delete(`${pods}/bound?gracePeriodSeconds=60`);
    expect(longer.body.metadata.deletionTimestamp).toBe('2026-01-01T00:00:30Z');
    const shorter = await api.delete(`${pods}/bound?gracePeriodSeconds=5`);
    expect(shorter.body.metadata).toMatchObject({deletionGracePeriodSeconds: 5, deletionTimestamp: '2026-01-01T00:00:05Z'});
    const now = await api.delete(`${pods}/bound?gracePeriodSeconds=0`);
    expect(now.code).toBe(200);
    expect((await api.get(`${pods}/bound`)).code).toBe(404);
  });

  test('that are done do not wait', async () => {
    await onNode('done');
    await api.ask('PATCH', `${pods}/done/status`, {status: {phase: 'Succeeded'}}, {'content-type': 'application/merge-patch+json'});
    await api.delete(`${pods}/done`);
    expect((await api.get(`${pods}/done`)).code).toBe(404);
  });
});

describe('a collection', () => {
  test('goes by selector, and says what went', async () => {
    for (const name of ['x1', 'x2', 'y1']) await api.post(configMaps, configMap(name, {metadata: {name, labels: {half: name[0]}}}));
    const {code, body} = await api.delete(`${configMaps}?labelSelector=half%3Dx`);
    expect([code, body.kind, body.items.map((item: {metadata: {name: string}}) => item.metadata.name)]).toEqual([
      200,
      'ConfigMapList',
      ['x1', 'x2'],
    ]);
    expect((await api.get(`${configMaps}/y1`)).code).toBe(200);
    await api.delete(`${configMaps}?fieldSelector=metadata.name%3Dy1`);
    expect((await api.get(`${configMaps}/y1`)).code).toBe(404);
  });

  test('stays as it is in a dry run', async () => {
    await api.post(configMaps, configMap('rehearsed'));
    expect((await api.delete(`${configMaps}?dryRun=All`)).code).toBe(200);
    expect((await api.get(`${configMaps}/rehearsed`)).code).toBe(200);
  });

  test('of more than a page goes whole; what waits for finalizers stays marked, and sent again nothing else changes', async () => {
    await api.post('/api/v1/namespaces', {metadata: {name: 'large'}});
    const large = '/api/v1/namespaces/large/configmaps';
    await Promise.all(
      Array.from({length: 1_100}, (_, at) => api.post(large, at % 500 === 7 ? held(`c${at}`, ['example.com/a']) : configMap(`c${at}`))),
    );
    const {body} = await api.delete(large);
    expect(body.items.length).toBeGreaterThanOrEqual(1_100);
    const left = (await api.get(large)).body.items;
    expect(left.map((item: {metadata: {name: string}}) => item.metadata.name).filter((name: string) => name.startsWith('c'))).toEqual([
      'c1007',
      'c507',
      'c7',
    ]);
    await api.delete(large);
    expect((await api.get(large)).body.items).toEqual(left);
  });

  test('whose deletion was broken off is finished by the next', async () => {
    await api.post('/api/v1/namespaces', {metadata: {name: 'broken'}});
    const broken = '/api/v1/namespaces/broken/configmaps';
    await Promise.all(Array.from({length: 600}, (_, at) => api.post(broken, configMap(`c${at}`))));
    const abort = new AbortController();
    const pending = api.ask('DELETE', broken, undefined, {}, {signal: abort.signal});
    setImmediate(() => abort.abort());
    await pending;
    const left = (await api.get(broken)).body.items.length;
    expect(left).toBeGreaterThan(0);
    await api.delete(broken);
    expect((await api.get(broken)).body.items).toEqual([]);
  });
});
