import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    await api.post(configMaps, configMap(name, {metadata: {name, labels: {odd: String('ace'.includes(name))}}}));
});
afterAll(() => api.close());

const names = (answer: {body: {items: {metadata: {name: string}}[]}}) =>
  answer.body.items.map((item) => item.metadata.name).filter((name) => name !== 'kube-root-ca.crt');

describe('a list in chunks', () => {
  test('keeps the version of its first chunk while objects come and go', async () => {
    const first = await api.get(`${configMaps}?limit=2`);
    await api.post(configMaps, configMap('bb'));
    await api.delete(`${configMaps}/e`);
    const second = await api.get(`${configMaps}?limit=2&continue=${first.body.metadata.continue}`);
    const third = await api.get(`${configMaps}?limit=9&continue=${second.body.metadata.continue}`);
    expect([...names(first), ...names(second), ...names(third)]).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(new Set([first, second, third].map((chunk) => chunk.body.metadata.resourceVersion)).size).toBe(1);
    expect(third.body.metadata.continue).toBeUndefined();
    await api.delete(`${configMaps}/bb`);
    await api.post(configMaps, configMap('e', {metadata: {name: 'e', labels: {odd: 'true'}}}));
  });

  test('says how many remain, but not behind selectors', async () => {
    const all = await api.get(configMaps);
    const plain = await api.get(`${configMaps}?limit=2`);
    expect(plain.body.metadata.remainingItemCount).toBe(all.body.items.length - 2);
    const selected = await api.get(`${configMaps}?limit=2&labelSelector=odd`);
    expect(selected.body.metadata.continue).toBeTruthy();
    expect(selected.body.metadata.remainingItemCount).toBeUndefined();
  });

  test('an expired token is 410 with one that goes on inconsistently', async () => {
    const first = await api.get(`${configMaps}?limit=2`);
    api.clock.advance(5 * 60_000 + 1);
    const late = await api.get(`${configMaps}?limit=2&continue=${first.body.metadata.continue}`);
    expect([late.code, late.body.reason]).toEqual([410, 'Expired']);
    const rest = await api.get(`${configMaps}?limit=99&continue=${late.body.metadata.continue}`);
    expect(names(rest)).toEqual(['c', 'd', 'e']);
  });

  test.each([
    ['not base64 of JSON', 'abc', 'continue key is not valid'],
    ['another version', 'eyJ2IjoidjkiLCJydiI6NSwic3RhcnQiOiJhIn0', 'server does not recognize this encoded version v9'],
    [
      'a path out of its prefix',
      Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":"../x"}').toString('base64url'),
      'continue key is not valid',
    ],
  ])('a token that is %s is 400', async (_what, token, words) => {
    const answer = await api.get(`${configMaps}?continue=${token}`);
    expect(answer.code).toBe(400);
    expect(answer.body.message).toContain(words);
  });
});

describe('resourceVersion and resourceVersionMatch', () => {
  test('Exact is the state of then, also after a delete', async () => {
    const before = await api.get(configMaps);
    await api.delete(`${configMaps}/d`);
    const then = await api.get(`${configMaps}?resourceVersion=${before.body.metadata.resourceVersion}&resourceVersionMatch=Exact`);
    expect(names(then)).toContain('d');
    expect(then.body.metadata.resourceVersion).toBe(before.body.metadata.resourceVersion);
    expect(names(await api.get(configMaps))).not.toContain('d');
    await api.post(configMaps, configMap('d'));
  });

  test('a compacted version is 410', async () => {
    await api.api.store.compact(await api.api.store.head('configmaps'));
    await api.post(configMaps, configMap('z'));
    await api.delete(`${configMaps}/z`);
    const answer = await api.get(`${configMaps}?resourceVersion=1&resourceVersionMatch=Exact`);
    expect([answer.code, answer.body.reason]).toEqual([410, 'Expired']);
  });

  test('a version from the future is 504 with Retry-After once the wait is over', async () => {
    const pending = api.get(`${configMaps}?resourceVersion=999999&resourceVersionMatch=NotOlderThan`);
    await new Promise((resolve) => setImmediate(resolve));
    api.clock.advance(3_000);
    const answer = await pending;
    expect([answer.code, answer.body.reason, answer.headers['retry-after']]).toEqual([504, 'Timeout', '1']);
  });

  test.each([
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersionMatch=NotOlderThan', 422],
    ['resourceVersionMatch=Exact&resourceVersion=0', 422],
    ['resourceVersionMatch=Other&resourceVersion=1', 422],
    ['resourceVersionMatch=Exact&resourceVersion=1&continue=x', 422],
    ['resourceVersion=x', 400],
    ['limit=x', 400],
    ['sendInitialEvents=true', 422],
  ])('%s is refused with %i', async (query, code) => {
    expect((await api.get(`${configMaps}?${query}`)).code).toBe(code);
  });

  test('continue excludes a version of its own, but 0 means none', async () => {
    const {body} = await api.get(`${configMaps}?limit=2`);
    expect((await api.get(`${configMaps}?limit=2&continue=${body.metadata.continue}&resourceVersion=5`)).code).toBe(400);
    expect((await api.get(`${configMaps}?limit=2&continue=${body.metadata.continue}&resourceVersion=0`)).code).toBe(200);
  });
});

describe('a hot collection', () => {
  test('answers with the newest state, write after write', async () => {
    for (let round = 0; round < 8; round++) {
      await api.post(configMaps, configMap(`hot-${round}`));
      expect(names(await api.get(configMaps))).toContain(`hot-${round}`);
    }
    for (let round = 0; round < 8; round++) {
      await api.delete(`${configMaps}/hot-${round}`);
      expect(names(await api.get(configMaps))).not.toContain(`hot-${round}`);
    }
  });

  test('items carry neither kind nor apiVersion, as the reference serves them', async () => {
    const {body} = await api.get(configMaps);
    expect(body.kind).toBe('ConfigMapList');
    expect(Object.keys(body.items[0])[0]).toBe('metadata');
  });
});
