import {afterEach, beforeEach, expect, test} from 'vitest';
import {configMap, configMaps, TestApi, type WatchEvent} from '../../test/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start();
});
afterEach(() => api.close());

const brief = (events: WatchEvent[]) => events.map(({type, object}) => `${type} ${object.metadata.name ?? ''}`.trim());
const labelled = (name: string, app: string) => configMap(name, {metadata: {name, labels: {app}}});
const head = async () => (await api.get(configMaps)).body.metadata.resourceVersion as string;

test('a watch from a version delivers every later change once, in order', async () => {
  const from = await head();
  await api.post(configMaps, configMap('a'));
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
  await api.mergePatch(`${configMaps}/a`, {data: {k: 'v'}});
  await api.delete(`${configMaps}/a`);
  const events = await watch.next(3);
  expect(brief(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  const versions = events.map(({object}) => Number(object.metadata.resourceVersion));
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
  await watch.close();
});

test('leaving a selector is DELETED with the last state that matched, entering it ADDED', async () => {
  const from = await head();
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${from}&labelSelector=app%3Dx`);
  await api.post(configMaps, labelled('a', 'x'));
  await api.mergePatch(`${configMaps}/a`, {metadata: {labels: {app: 'y'}}});
  await api.mergePatch(`${configMaps}/a`, {data: {unseen: '1'}});
  await api.mergePatch(`${configMaps}/a`, {metadata: {labels: {app: 'x'}}});
  const events = await watch.next(3);
  expect(brief(events)).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
  expect(events[1]!.object.metadata.labels).toEqual({app: 'x'});
  expect(Number(events[1]!.object.metadata.resourceVersion)).toBeGreaterThan(Number(events[0]!.object.metadata.resourceVersion));
  await watch.close();
});

test('without a version it begins with what there is', async () => {
  await api.post(configMaps, configMap('a'));
  const watch = await api.watch(`${configMaps}?watch=1&fieldSelector=metadata.name%3Da`);
  expect(brief(await watch.next(1))).toEqual(['ADDED a']);
  await api.delete(`${configMaps}/a`);
  expect(brief(await watch.next(1))).toEqual(['DELETED a']);
  await watch.close();
});

test('sendInitialEvents closes the state with a marked bookmark', async () => {
  await api.post(configMaps, labelled('a', 'x'));
  const watch = await api.watch(
    `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=app`,
  );
  const [added, mark] = await watch.next(2);
  expect(added!.type).toBe('ADDED');
  expect(mark).toMatchObject({
    type: 'BOOKMARK',
    object: {kind: 'ConfigMap', metadata: {annotations: {'k8s.io/initial-events-end': 'true'}}},
  });
  await watch.close();
});

test('bookmarks come each minute and shortly before the end, and end where the head is', async () => {
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${await head()}&allowWatchBookmarks=true&timeoutSeconds=100`);
  await new Promise((resolve) => setImmediate(resolve));
  api.clock.advance(60_000);
  expect((await watch.next(1))[0]!.type).toBe('BOOKMARK');
  api.clock.advance(38_000);
  expect((await watch.next(1))[0]!.object.metadata.resourceVersion).toBe(await head());
  api.clock.advance(2_000);
  await watch.ended;
});

test('a version that is compacted away is an ERROR event in a stream that began', async () => {
  const from = await head();
  await api.post(configMaps, configMap('a'));
  await api.post(configMaps, configMap('b'));
  await api.api.store.compact(await api.api.store.head('configmaps'));
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
  const [error] = await watch.next(1);
  expect(error).toMatchObject({type: 'ERROR', object: {kind: 'Status', code: 410, reason: 'Expired'}});
  await watch.ended;
});

test('draining ends every watch cleanly', async () => {
  const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${await head()}`);
  await api.close();
  await watch.ended;
  expect(watch.events).toEqual([]);
});

test('one object is watched by the legacy path', async () => {
  const watch = await api.watch('/api/v1/watch/namespaces/default/configmaps/only');
  await api.post(configMaps, configMap('other'));
  await api.post(configMaps, configMap('only'));
  expect(brief(await watch.next(1))).toEqual(['ADDED only']);
  await watch.close();
});

test.each([
  ['watch=1&sendInitialEvents=true', 422],
  ['watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1', 422],
  ['watch=1&resourceVersion=x', 400],
  ['watch=1&timeoutSeconds=x', 400],
  ['watch=1&labelSelector=a==b==c', 400],
])('%s is refused with %i', async (query, code) => {
  expect((await api.get(`${configMaps}?${query}`)).code).toBe(code);
});
