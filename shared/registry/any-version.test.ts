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

test('a version of a million digits is out of range', async () => {
  const {code, body} = await api.get(`${configMaps}?resourceVersion=${'9'.repeat(1_000_000)}`);
  expect([code, body.message.endsWith('value out of range')]).toEqual([400, true]);
  expect((await api.get(`${configMaps}?resourceVersion=${'0'.repeat(1_000)}1`)).code).toBe(200);
});

test('a limit may be as large as an integer is there', async () => {
  for (const [limit, code] of [
    ['9223372036854775807', 200],
    ['+9223372036854775807', 200],
    ['-9223372036854775808', 200],
    ['9223372036854775808', 400],
    ['9'.repeat(1_000_000), 400],
  ] as const)
    expect([limit.slice(0, 30), (await api.get(`${configMaps}?limit=${encodeURIComponent(limit)}`)).code]).toEqual([
      limit.slice(0, 30),
      code,
    ]);
});

test('a kind and a version that every object inherits are none', async () => {
  for (const inherited of ['constructor', '__proto__', 'toString']) {
    const answers = [
      await api.delete(`${configMaps}/a`, {kind: inherited, apiVersion: 'v1'}),
      await api.delete(`${configMaps}/a`, {kind: 'DeleteOptions', apiVersion: inherited}),
      await api.delete(`${configMaps}/a`, {kind: inherited, apiVersion: inherited}),
      await api.post(configMaps, {kind: inherited, apiVersion: 'v1', metadata: {name: 'x'}}),
      await api.post(configMaps, {kind: 'ConfigMap', apiVersion: inherited, metadata: {name: 'x'}}),
      await api.mergePatch(`${configMaps}/a`, {kind: inherited}),
      await api.mergePatch(`${configMaps}/a`, {apiVersion: inherited}),
    ];
    expect(answers.map(({code}) => code)).toEqual([400, 400, 400, 400, 400, 422, 422]);
  }
});

test('a media type that every object inherits is none', async () => {
  for (const type of ['constructor', '__proto__']) {
    expect((await api.post(configMaps, configMap('x'), {'content-type': type})).code).toBe(415);
    expect((await api.get(configMaps, {accept: type})).code).toBe(406);
  }
});
