import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {ManualClock} from '../../shared/clock.ts';
import type {ApiClient} from '../api/client.ts';
import {type FakeApi, fakeApi, passTime, quiet} from '../api/testing.ts';
import {annotation, isMirror, type Pod} from '../pods/pod.ts';
import {podOf} from '../pods/testing.ts';
import {ApiMirrors} from './mirrors.ts';
import {type ReadableLog, readableLog} from './testing.ts';

describe('mirrors of static pods', () => {
  let api: FakeApi;
  let clock: ManualClock;
  let client: ApiClient;
  let log: ReadableLog;
  let mirrors: ApiMirrors;
  let nodeUid: string | undefined;

  const path = '/api/v1/namespaces/ns/pods/web-n';
  const pod = (hash: string) => podOf({}, {name: 'web-n', uid: hash, annotations: {[annotation.source]: 'file', [annotation.hash]: hash}});
  const inApi = () => api.objects.get(path) as unknown as Pod | undefined;
  const hashInApi = () => inApi()?.metadata.annotations?.[annotation.mirror];
  /** As the manager says it, with what the API has. */
  const update = (...pods: Pod[]) => {
    const found = inApi();
    mirrors.update(pods, new Map(found && isMirror(found) ? [['ns/web-n', found]] : []));
  };

  beforeEach(async () => {
    ({api, clock, client} = await fakeApi());
    log = readableLog();
    nodeUid = 'node-uid';
    mirrors = new ApiMirrors({client, clock, node: 'n', nodeUid: () => nodeUid, log});
  });
  afterEach(async () => {
    client.close();
    await api.stop();
  });

  test('are made, owned by the node, and made again when somebody has deleted them', async () => {
    update(pod('1'));
    await passTime(clock, () => hashInApi() === '1');
    expect(inApi()).toMatchObject({metadata: {ownerReferences: [{kind: 'Node', name: 'n', uid: 'node-uid', controller: true}]}});
    update(pod('1'));
    await quiet();
    expect(api.count(/^(POST|DELETE)/)).toBe(1);
    const first = inApi()!.metadata.uid;
    api.remove(path);
    update(pod('1'));
    await passTime(clock, () => hashInApi() === '1');
    expect(inApi()!.metadata.uid).not.toBe(first);
  });

  test('are replaced when the pod is another, and removed with it', async () => {
    update(pod('1'));
    await passTime(clock, () => hashInApi() === '1');
    update(pod('2'));
    await passTime(clock, () => inApi() === undefined);
    await quiet();
    update(pod('2'));
    await passTime(clock, () => hashInApi() === '2');
    await quiet();
    update();
    await passTime(clock, () => inApi() === undefined);
  });

  test('wait for their node, and for an API that is gone', async () => {
    nodeUid = undefined;
    update(pod('1'));
    await quiet();
    expect(api.requests).toEqual([]);
    await api.stop();
    nodeUid = 'node-uid';
    await passTime(clock, () => log.lines.length >= 2, 1_000);
    expect(log.lines[0]).toMatch(/^W mirror ns\/web-n: .*ECONN/);
    await api.start();
    await passTime(clock, () => hashInApi() === '1');
  });

  test('do not touch a pod of that name which is no mirror, and try again until it is gone', async () => {
    api.put(path, podOf({}, {name: 'web-n', uid: 'theirs'}));
    update(pod('1'));
    await passTime(clock, () => api.count(/^POST/) >= 2, 1_000);
    expect([inApi()!.metadata.uid, api.count(/^DELETE/)]).toEqual(['theirs', 0]);
    api.remove(path);
    await passTime(clock, () => hashInApi() === '1', 1_000);
  });

  test('of a namesake that came meanwhile are left alone', async () => {
    update(pod('1'));
    await passTime(clock, () => hashInApi() === '1');
    await quiet();
    const old = inApi()!;
    api.remove(path);
    api.put(path, podOf({}, {name: 'web-n', uid: 'theirs'}));
    mirrors.update([], new Map([['ns/web-n', old]]));
    await passTime(clock, () => api.count(/^DELETE/) === 1);
    await quiet();
    expect(inApi()!.metadata.uid).toBe('theirs');
  });
});
