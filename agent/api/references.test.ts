import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {ManualClock} from '../../shared/clock.ts';
import {containerOf, podOf} from '../pods/testing.ts';
import type {ApiClient} from './client.ts';
import {ObjectReferences} from './references.ts';
import {type FakeApi, fakeApi, passTime} from './testing.ts';

describe('what pods refer to', () => {
  let api: FakeApi;
  let clock: ManualClock;
  let client: ApiClient;
  let told: string[];
  let references: ObjectReferences;

  const path = '/api/v1/namespaces/ns/configmaps/config';
  const put = (value: string) =>
    api.put(path, {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'config', namespace: 'ns'}, data: {value}});
  const pod = (uid: string) => podOf({containers: [containerOf('c', {envFrom: [{configMapRef: {name: 'config'}}]})]}, {uid, name: uid});
  const value = async () => (await references.configMap('ns', 'config'))?.data.value;

  beforeEach(async () => {
    ({api, clock, client} = await fakeApi());
    told = [];
    references = new ObjectReferences(client, (uid) => void told.push(uid));
  });
  afterEach(async () => {
    for (const uid of ['a', 'b']) references.unfollow(uid);
    client.close();
    await api.stop();
  });

  test('is asked for once for all pods that need it, told to each when it changes, and let go with the last', async () => {
    put('1');
    references.follow(pod('a'));
    references.follow(pod('b'));
    expect(await value()).toBe('1');
    await passTime(clock, () => api.watching === 1);
    put('2');
    await passTime(clock, () => told.length === 2);
    expect([told, await value(), api.count(/^GET.*configmaps$/)]).toEqual([['a', 'b'], '2', 1]);
    api.remove(path);
    await passTime(clock, () => told.length === 4);
    expect(await value()).toBeUndefined();
    references.unfollow('a');
    references.unfollow('b');
    await passTime(clock, () => api.watching === 0);
  });

  test('of a pod that is not followed is asked for each time', async () => {
    put('1');
    expect([await value(), await value(), api.count(/^GET.*config$/)]).toEqual(['1', '1', 2]);
    api.remove(path);
    expect(await value()).toBeUndefined();
  });

  test('is what it was while the API is gone, and news is told when it is back', async () => {
    put('1');
    references.follow(pod('a'));
    expect(await value()).toBe('1');
    await api.stop();
    expect(await value()).toBe('1');
    put('2');
    await api.start();
    await passTime(clock, () => told.length === 1);
    expect(await value()).toBe('2');
  });

  test('that cannot be read is an error and not an absence, until it can', async () => {
    put('1');
    api.refuse = () => ({code: 403, reason: 'Forbidden'});
    references.follow(pod('a'));
    await expect(value()).rejects.toMatchObject({status: {reason: 'Forbidden'}});
    api.refuse = () => undefined;
    await passTime(clock, () => told.length === 1);
    expect(await value()).toBe('1');
  });
});
