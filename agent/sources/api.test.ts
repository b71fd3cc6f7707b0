import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {ManualClock} from '../../shared/clock.ts';
import type {ApiClient} from '../api/client.ts';
import {type FakeApi, fakeApi, passTime} from '../api/testing.ts';
import type {Pod} from '../pods/pod.ts';
import {watchPods} from './api.ts';
import {type ReadableLog, readableLog} from './testing.ts';

describe('the pods of a node, as the API has them', () => {
  let api: FakeApi;
  let clock: ManualClock;
  let client: ApiClient;
  let told: string[];
  let log: ReadableLog;
  let stop: () => void;

  const pathOf = (name: string) => `/api/v1/namespaces/ns/pods/${name}`;
  const put = (name: string, nodeName = 'n', more: object = {}) =>
    api.put(pathOf(name), {
      ...{kind: 'Pod', apiVersion: 'v1'},
      metadata: {name, namespace: 'ns', managedFields: [{manager: 'somebody'}], ...more},
      spec: {nodeName},
    });
  const nameOf = ({metadata}: Pod) => metadata.name;
  const heard = (...lines: string[]) => passTime(clock, () => told.length >= lines.length).then(() => expect(told).toEqual(lines));

  beforeEach(async () => {
    ({api, clock, client} = await fakeApi());
    told = [];
    log = readableLog();
    put('a');
    put('b');
    put('elsewhere', 'other');
    const manager = {
      replace: (source: string, pods: readonly Pod[]) => void told.push(`${source}: ${pods.map(nameOf)}`),
      changed: (pod: Pod) => void told.push(`~ ${pod.metadata.managedFields ? 'with managers' : nameOf(pod)}`),
      removed: (pod: Pod) => void told.push(`- ${nameOf(pod)}`),
    };
    stop = watchPods({client, node: 'n', manager, log});
    await heard('api: a,b');
    await passTime(clock, () => api.watching === 1);
  });
  afterEach(async () => {
    stop();
    client.close();
    await api.stop();
  });

  test('are told once as a whole, and then as they change', async () => {
    put('a', 'n', {labels: {x: 'y'}});
    put('c');
    put('elsewhere', 'other', {labels: {x: 'y'}});
    api.remove(pathOf('b'));
    await heard('api: a,b', '~ a', '~ c', '- b');
    expect(api.count('GET /api/v1/pods')).toBe(1);
  });

  test('stay as they are while the API is gone for ten minutes; what was missed is told when it is back', async () => {
    await api.stop();
    const gone = clock.now();
    await passTime(clock, () => clock.now() - gone > 600_000, 5_000);
    expect(told).toEqual(['api: a,b']);
    expect(log.lines[0]).toMatch(/^W pods: the watch broke off$|ECONN/);
    api.remove(pathOf('a'));
    put('c');
    await api.start();
    await heard('api: a,b', '- a', '~ c');
    expect(api.count('GET /api/v1/pods')).toBe(1);
  });

  test('are heard of again as soon as any request has got through', async () => {
    await api.stop();
    const gone = clock.now();
    await passTime(clock, () => clock.now() - gone > 600_000, 5_000);
    put('c');
    await api.start();
    const back = clock.now();
    await client.request('GET', '/api/v1/namespaces/ns/pods/c', {priority: 'free'});
    while (told.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([told.at(-1), clock.now()]).toEqual(['~ c', back]);
  });

  test('are listed again when the API has forgotten where we were; who was replaced by a namesake has gone and come', async () => {
    api.remove(pathOf('a'));
    api.endWatches();
    put('b', 'n', {uid: 'another'});
    api.forget();
    await passTime(clock, () => api.count('GET /api/v1/pods') === 2);
    await passTime(clock, () => told.length >= 4);
    expect([...told].sort()).toEqual(['- a', '- b', 'api: a,b', '~ b']);
  });

  test('are asked for again and again where they may not be watched', async () => {
    api.refuse = (request) => (request.startsWith('WATCH') ? {code: 405, reason: 'MethodNotAllowed'} : undefined);
    api.endWatches();
    await passTime(clock, () => api.count('GET /api/v1/pods') >= 2);
    put('c');
    await heard('api: a,b', '~ c');
    api.remove(pathOf('a'));
    await heard('api: a,b', '~ c', '- a');
    api.refuse = () => undefined;
    await passTime(clock, () => api.watching === 1, 1_000);
  });

  test('are not given up because the API says no for a while', async () => {
    api.refuse = () => ({code: 401, reason: 'Unauthorized'});
    api.endWatches();
    await passTime(clock, () => log.lines.length >= 3);
    api.refuse = () => undefined;
    put('c');
    await heard('api: a,b', '~ c');
  });
});
