import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {ManualClock} from '../../shared/clock.ts';
import type {ApiClient} from '../api/client.ts';
import {type FakeApi, fakeApi, passTime, quiet} from '../api/testing.ts';
import {Registrar, type RegistrarOptions} from './registrar.ts';

describe('the node in the API', () => {
  let api: FakeApi;
  let clock: ManualClock;
  let client: ApiClient;
  let registrar: Registrar;
  let errors: string[];
  let ready: boolean;

  const path = '/api/v1/nodes/n';
  const node = () => api.objects.get(path);
  const written = () => api.count(`PATCH ${path}/status`);
  const start = (more: Partial<RegistrarOptions> = {}) => {
    registrar = new Registrar({
      ...{client, clock, register: true, computeMs: 10_000, reportMs: 300_000},
      spec: {
        ...{name: 'n', labels: {pool: 'lab'}, taints: [{key: 'k', value: 'v', effect: 'NoSchedule'}], unschedulable: false},
        ...{providerId: '', architecture: 'amd64', controllerAttach: true},
      },
      status: async () => ({
        conditions: [{type: 'Ready', status: ready ? 'True' : 'False', lastHeartbeatTime: new Date(clock.now()).toISOString()}],
        addresses: [{type: 'Hostname', address: 'n'}],
      }),
      onError: say(errors),
      onNode: () => {},
      ...more,
    }).start();
  };
  const say = (mine: string[]) => (error: Error) => void mine.push(error.message);
  const isReady = () => node()?.status?.conditions?.[0]?.status;

  beforeEach(async () => {
    ({api, clock, client} = await fakeApi());
    errors = [];
    ready = true;
  });
  afterEach(async () => {
    registrar.stop();
    client.close();
    await api.stop();
  });

  test('is made with its labels, taints and status in one request', async () => {
    start();
    await passTime(clock, () => node() !== undefined);
    expect(node()).toMatchObject({
      metadata: {labels: {pool: 'lab', 'kubernetes.io/hostname': 'n', 'kubernetes.io/arch': 'amd64'}},
      spec: {taints: [{key: 'k', value: 'v', effect: 'NoSchedule'}]},
      status: {conditions: [{type: 'Ready', status: 'True'}]},
    });
    expect(api.requests).toEqual(['POST /api/v1/nodes']);
  });

  test('is written at once when it changes, and every five minutes when it does not', async () => {
    start();
    await passTime(clock, () => registrar.node !== undefined);
    await quiet();
    const begun = clock.now();
    await passTime(clock, () => clock.now() - begun >= 290_000, 5_000);
    expect(written()).toBe(0);
    await passTime(clock, () => written() === 1, 5_000);
    await quiet();
    ready = false;
    registrar.touch();
    await passTime(clock, () => isReady() === 'False', 1);
    expect(written()).toBe(2);
  });

  test('that is there already keeps its taints and gets the labels that are missing', async () => {
    api.put(path, {kind: 'Node', apiVersion: 'v1', metadata: {name: 'n', labels: {pool: 'old', mine: 'x'}}, spec: {taints: []}});
    start();
    await passTime(clock, () => written() === 1);
    expect(node()).toMatchObject({metadata: {labels: {pool: 'lab', mine: 'x', 'kubernetes.io/os': 'linux'}}, spec: {taints: []}});
    expect(api.requests).toEqual(['POST /api/v1/nodes', `GET ${path}`, `PATCH ${path}`, `PATCH ${path}/status`]);
  });

  test('is waited for where the agent may not make it, and its labels are left alone', async () => {
    start({register: false});
    await passTime(clock, () => errors.length >= 3);
    api.put(path, {kind: 'Node', apiVersion: 'v1', metadata: {name: 'n'}});
    await passTime(clock, () => written() === 1);
    expect([api.count('POST /api/v1/nodes'), node()!.metadata.labels]).toEqual([0, undefined]);
  });

  test('catches up when the API is back', async () => {
    start();
    await passTime(clock, () => registrar.node !== undefined);
    await api.stop();
    ready = false;
    registrar.touch();
    await passTime(clock, () => errors.length >= 5, 1_000);
    await api.start();
    await passTime(clock, () => isReady() === 'False', 1_000);
  });

  test('is made again when somebody has deleted it, whether a watch tells or a write finds out', async () => {
    start();
    await passTime(clock, () => registrar.node !== undefined);
    api.remove(path);
    registrar.seen(undefined);
    await passTime(clock, () => node() !== undefined, 10);
    await quiet();
    api.remove(path);
    ready = false;
    registrar.touch();
    await passTime(clock, () => node() !== undefined);
    expect(isReady()).toBe('False');
  });
});
