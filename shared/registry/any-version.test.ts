import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';

let api: TestApi;
const events = '/api/v1/namespaces/default/events';
beforeAll(async () => {
  api = await TestApi.start();
  for (const name of ['a', 'b', 'c']) {
    await api.post(configMaps, configMap(name, {metadata: {name, labels: {constructed: 'yes'}}}));
    await api.post(events, {metadata: {name}, involvedObject: {namespace: 'default'}});
  }
});
afterAll(() => api.close());

const listed = async (url: string) => {
  const {body} = await api.get(url);
  return [body.items.length, body.metadata.continue !== undefined];
};

describe('a list of any version', () => {
  test('comes at once, as from a cache, whatever the limit', async () => {
    const selected = `${configMaps}?labelSelector=constructed&limit=1`;
    expect(await listed(selected)).toEqual([1, true]);
    expect(await listed(`${selected}&resourceVersion=0`)).toEqual([3, false]);
    expect(await listed(`${selected}&resourceVersion=0&resourceVersionMatch=NotOlderThan`)).toEqual([3, false]);
  });

  test('comes in chunks for events, which the reference does not cache', async () => {
    expect(await listed(`${events}?limit=1&resourceVersion=0`)).toEqual([1, true]);
  });
});

test('a version of a million digits is out of range, and soon', async () => {
  const started = performance.now();
  const {code, body} = await api.get(`${configMaps}?resourceVersion=${'9'.repeat(1_000_000)}`);
  expect([code, body.message.endsWith('value out of range')]).toEqual([400, true]);
  expect((await api.get(`${configMaps}?resourceVersion=${'0'.repeat(1_000)}1`)).code).toBe(200);
  expect(performance.now() - started).toBeLessThan(500);
});

test('a media type that every object inherits is none', async () => {
  for (const type of ['constructor', '__proto__']) {
    expect((await api.post(configMaps, configMap('x'), {'content-type': type})).code).toBe(415);
    expect((await api.get(configMaps, {accept: type})).code).toBe(406);
  }
});
