import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi, until} from '../../test/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start({watchHistoryMs: 10 * 60_000});
});
afterEach(() => api.close());

const minute = 60_000;
const turns = async () => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
};
/** Moves the clock as a clock moves: what is due in between gets its turn. */
const pass = async (minutes: number) => {
  for (let at = 0; at < minutes; at++) {
    api.clock.advance(minute);
    await turns();
  }
};

describe('events', () => {
  const events = '/api/v1/namespaces/default/events';
  const event = (name: string) => ({
    metadata: {name},
    involvedObject: {kind: 'Pod', namespace: 'default', name: 'p'},
    reason: 'r',
    message: 'm',
    type: 'Normal',
  });
  const names = async () => (await api.get(events)).body.items.map((item: {metadata: {name: string}}) => item.metadata.name);

  test('go an hour after they were last written, and watchers see them go', async () => {
    await api.post(events, event('old'));
    await api.post(events, event('series'));
    const {body} = await api.get(events);
    const watch = await api.watch(`${events}?watch=1&timeoutSeconds=9000&resourceVersion=${body.metadata.resourceVersion}`);
    await pass(40);
    await api.mergePatch(`${events}/series`, {count: 2, lastTimestamp: new Date(api.clock.now()).toISOString().replace(/\.\d+/, '')});
    await api.post(events, event('new'));
    await pass(19);
    expect(await names()).toEqual(['new', 'old', 'series']);
    await pass(3);
    expect(await names()).toEqual(['new', 'series']);
    const [changed, added, deleted] = await watch.next(3);
    expect([changed!.type, added!.type, deleted!.type, deleted!.object.metadata.name]).toEqual(['MODIFIED', 'ADDED', 'DELETED', 'old']);
    await watch.close();
    await pass(60);
    expect(await names()).toEqual([]);
  });

  test('of either group are the same events', async () => {
    await api.post('/apis/events.k8s.io/v1/namespaces/default/events', {
      metadata: {name: 'e'},
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      action: 'a',
      reason: 'r',
      type: 'Normal',
      regarding: {kind: 'Pod', namespace: 'default', name: 'p'},
    });
    expect(await names()).toEqual(['e']);
    await pass(62);
    expect(await names()).toEqual([]);
  });
});

describe('history', () => {
  test('is kept for as long as was asked, then a watch or list from it is told to start again', async () => {
    const from = (await api.get(configMaps)).body.metadata.resourceVersion;
    await api.post(configMaps, configMap('a'));
    await pass(9);
    const recent = await api.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
    expect((await recent.next(1))[0]!.object.metadata.name).toBe('a');
    await api.post(configMaps, configMap('b'));
    await pass(3);
    const late = await api.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
    expect((await late.next(1))[0]).toMatchObject({type: 'ERROR', object: {code: 410, reason: 'Expired'}});
    const exact = await api.get(`${configMaps}?resourceVersion=${from}&resourceVersionMatch=Exact`);
    expect([exact.code, exact.body.reason]).toEqual([410, 'Expired']);
    // A watch that has kept up does not notice.
    await api.post(configMaps, configMap('c'));
    expect((await recent.next(2)).map(({object}) => object.metadata.name)).toEqual(['b', 'c']);
    await recent.close();
  });

  test('that is gone takes no object along', async () => {
    await api.post(configMaps, configMap('kept', {data: {a: 'b'}}));
    await pass(30);
    expect((await api.get(`${configMaps}/kept`)).body.data).toEqual({a: 'b'});
    expect((await api.get(configMaps)).body.items.map((item: {metadata: {name: string}}) => item.metadata.name)).toContain('kept');
    expect((await api.mergePatch(`${configMaps}/kept`, {data: {a: 'c'}})).code).toBe(200);
  });
});

test('controllers go on after history that they have read is gone', async () => {
  await pass(30);
  await api.post('/api/v1/namespaces', {metadata: {name: 'later'}});
  await until(async () => (await api.get('/api/v1/namespaces/later/serviceaccounts/default')).code === 200);
  await api.delete('/api/v1/namespaces/later');
  await until(async () => (await api.get('/api/v1/namespaces/later')).code === 404);
});
