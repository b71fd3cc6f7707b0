import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {ManualClock} from '../../shared/clock.ts';
import type {ApiClient} from '../api/client.ts';
import {type FakeApi, fakeApi, passTime, quiet} from '../api/testing.ts';
import type {Pod, PodStatus} from '../pods/pod.ts';
import {podOf} from '../pods/testing.ts';
import {patchOf, StatusWriter} from './writer.ts';

const status = (more: Partial<PodStatus> = {}): PodStatus => ({
  phase: 'Running',
  conditions: [{type: 'Ready', status: 'True'}],
  podIPs: [{ip: '10.0.0.1'}],
  ...more,
});

describe('the patch from one status to another', () => {
  test('is nothing where they say the same, whatever the order of their fields', () => {
    expect(patchOf(status(), status())).toBeUndefined();
    expect(
      patchOf({conditions: [{status: 'True', type: 'Ready'}], podIPs: [{ip: '10.0.0.1'}], phase: 'Running'}, status()),
    ).toBeUndefined();
  });

  test('holds only what differs, and takes away what is gone', () => {
    expect(patchOf(status({reason: 'x'}), status({phase: 'Failed'}))).toEqual({phase: 'Failed', reason: null});
  });

  test('leaves conditions of others alone, and clears the words of ours', () => {
    const before = status({
      conditions: [
        {type: 'Ready', status: 'False', reason: 'r', message: 'm'},
        {type: 'theirs', status: 'True'},
      ],
    });
    expect(patchOf(before, status())).toEqual({conditions: [{type: 'Ready', status: 'True', reason: null, message: null}]});
  });

  test('removes conditions of ours that are over', () => {
    const before = status({conditions: [...(status().conditions ?? []), {type: 'PodResizePending', status: 'True'}]});
    expect(patchOf(before, status())).toEqual({conditions: [{$patch: 'delete', type: 'PodResizePending'}]});
  });

  test('replaces addresses, which would merge', () => {
    expect(patchOf(status(), status({podIPs: [{ip: '10.0.0.2'}]}))).toEqual({podIPs: [{$patch: 'replace'}, {ip: '10.0.0.2'}]});
  });
});

describe('statuses on their way to the API', () => {
  let api: FakeApi;
  let clock: ManualClock;
  let client: ApiClient;
  let writer: StatusWriter;
  let errors: string[];
  let pod: Pod;

  const path = '/api/v1/namespaces/ns/pods/p';
  const patch = `PATCH ${path}/status`;
  const phase = (name: string) => status({phase: name as PodStatus['phase']});
  const inApi = () => api.objects.get(path)?.status?.phase;

  beforeEach(async () => {
    ({api, clock, client} = await fakeApi());
    // What the test before has left under way is not ours.
    const mine: string[] = [];
    errors = mine;
    pod = podOf();
    api.put(path, {...pod});
    writer = new StatusWriter({client, clock, onError: (_, error) => void mine.push(error.message)});
  });
  afterEach(async () => {
    writer.forget(pod.metadata.uid);
    client.close();
    await api.stop();
  });

  test('wait a moment while the pod is only being made, and are then one request', async () => {
    writer.write(pod, phase('Pending'), false);
    await quiet();
    expect(api.count(patch)).toBe(0);
    writer.write(pod, phase('Running'), true);
    await writer.settled(pod.metadata.uid);
    expect([api.count(patch), inApi()]).toEqual([1, 'Running']);
    writer.write(pod, phase('Running'), true);
    await writer.settled(pod.metadata.uid);
    expect(api.count(patch)).toBe(1);
  });

  test('are the latest one when the API is slow: what came between is not sent', async () => {
    let open = () => {};
    api.gate = new Promise((resolve) => {
      open = resolve;
    });
    writer.write(pod, phase('Pending'), true);
    await passTime(clock, () => api.count(patch) === 1);
    for (const reason of ['a', 'b', 'c']) writer.write(pod, status({phase: 'Running', reason}), true);
    writer.write(pod, phase('Succeeded'), true);
    expect(api.count(patch)).toBe(1);
    open();
    await writer.settled(pod.metadata.uid);
    expect([api.count(patch), inApi(), api.bodies.at(-1).status]).toEqual([2, 'Succeeded', {phase: 'Succeeded'}]);
  });

  test('catch up when the API is back after ten minutes', async () => {
    await api.stop();
    writer.write(pod, phase('Running'), true);
    const gone = clock.now();
    await passTime(clock, () => clock.now() - gone > 600_000, 5_000);
    writer.write(pod, phase('Failed'), true);
    expect(errors.length).toBeGreaterThan(1);
    await api.start();
    await passTime(clock, () => inApi() === 'Failed');
    await writer.settled(pod.metadata.uid);
    expect(api.count(patch)).toBe(1);
  });

  test.each([
    ['of a pod that is gone', () => api.remove(path)],
    ['of a namesake', () => void api.put(path, {...pod, metadata: {...pod.metadata, uid: 'another'}})],
  ])('%s are nobody’s concern', async (_, happens) => {
    happens();
    writer.write(pod, phase('Running'), true);
    await writer.settled(pod.metadata.uid);
    await quiet();
    expect([api.count(patch), inApi(), errors]).toEqual([1, undefined, []]);
  });

  test('that the API finds wrong are not sent again as they are', async () => {
    api.refuse = (request) => (request === patch ? {code: 422, reason: 'Invalid'} : undefined);
    writer.write(pod, phase('Running'), true);
    await writer.settled(pod.metadata.uid);
    clock.advance(60_000);
    await quiet();
    expect([api.count(patch), errors]).toEqual([1, ['Invalid']]);
    api.refuse = () => undefined;
    writer.write(pod, phase('Succeeded'), true);
    await writer.settled(pod.metadata.uid);
    expect(inApi()).toBe('Succeeded');
  });
});
