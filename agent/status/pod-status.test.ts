import {describe, expect, test} from 'vitest';
import type {Instance} from '../pods/plan.ts';
import type {Pod, PodStatus} from '../pods/pod.ts';
import {containerOf, instanceOf, observedOf, podOf} from '../pods/testing.ts';
import {podStatus, type StatusInput} from './pod-status.ts';

const now = Date.UTC(2026, 0, 1);
const [a, init, side] = [containerOf('a'), containerOf('init'), containerOf('side', {restartPolicy: 'Always'})];

const ask = (pod: Pod, instances: Instance[], more: Partial<StatusInput> = {}): PodStatus =>
  podStatus({
    ...{pod, observed: observedOf(instances, true), waiting: new Map(), ready: () => true, started: () => true, messages: new Map()},
    ...{hostIps: ['192.0.2.1'], now, runtimeName: 'fake', ...more},
  });
const condition = (status: PodStatus, type: string): string => {
  const found = status.conditions?.find((entry) => entry.type === type);
  return `${found?.status}${found?.reason ? ` ${found.reason}` : ''}`;
};

describe('the phase', () => {
  const one = (policy: 'Always' | 'OnFailure' | 'Never', ...instances: Instance[]) =>
    ask(podOf({containers: [a], restartPolicy: policy}), instances).phase;

  test('is Pending before anything runs, Running from then on', () => {
    expect(one('Always')).toBe('Pending');
    expect(one('Always', instanceOf(a, 'created'))).toBe('Pending');
    expect(one('Always', instanceOf(a, 'running'))).toBe('Running');
    expect(one('Always', instanceOf(a, 'exited', {exitCode: 1}))).toBe('Running');
    expect(one('OnFailure', instanceOf(a, 'exited', {exitCode: 1}))).toBe('Running');
  });

  test('says how it ended where it is over', () => {
    expect(one('OnFailure', instanceOf(a, 'exited'))).toBe('Succeeded');
    expect(one('Never', instanceOf(a, 'exited'))).toBe('Succeeded');
    expect(one('Never', instanceOf(a, 'exited', {exitCode: 2}))).toBe('Failed');
  });

  test('an init container that failed under Never fails the pod', () => {
    const pod = podOf({initContainers: [init], containers: [a], restartPolicy: 'Never'});
    expect(ask(pod, [instanceOf(init, 'exited', {exitCode: 1})]).phase).toBe('Failed');
  });

  test('waits for a sidecar to end', () => {
    const pod = podOf({initContainers: [side], containers: [a], restartPolicy: 'Never'});
    expect(ask(pod, [instanceOf(side, 'running'), instanceOf(a, 'exited')]).phase).toBe('Running');
    expect(ask(pod, [instanceOf(side, 'exited'), instanceOf(a, 'exited')]).phase).toBe('Succeeded');
  });

  test('is never taken back', () => {
    const pod = {...podOf({containers: [a]}), status: {phase: 'Failed'}};
    expect(ask(pod, [instanceOf(a, 'running')]).phase).toBe('Failed');
  });

  test('is Failed with the reason of the node where the node ended it, once nothing runs', () => {
    const failed = {reason: 'Evicted', message: 'too much'};
    expect(ask(podOf({containers: [a]}), [instanceOf(a, 'running')], {failed}).phase).not.toBe('Failed');
    expect(ask(podOf({containers: [a]}), [instanceOf(a, 'exited', {exitCode: 0})], {failed, terminated: true})).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
    });
  });
});

describe('conditions', () => {
  test('of a pod that runs are all True', () => {
    const status = ask(podOf({containers: [a]}), [instanceOf(a, 'running')]);
    for (const type of ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled', 'PodReadyToStartContainers'])
      expect(condition(status, type)).toBe('True');
  });

  test('name what is not ready', () => {
    const status = ask(podOf({containers: [a]}), [instanceOf(a, 'running')], {ready: () => false});
    expect(condition(status, 'Ready')).toBe('False ContainersNotReady');
    expect(status.conditions?.find(({type}) => type === 'Ready')?.message).toBe('containers with unready status: [a]');
  });

  test('wait for readiness gates', () => {
    const status = ask(podOf({containers: [a], readinessGates: [{conditionType: 'x'}]}), [instanceOf(a, 'running')]);
    expect([condition(status, 'Ready'), condition(status, 'ContainersReady')]).toEqual(['False ReadinessGatesNotReady', 'True']);
  });

  test('keep the time of their last change', () => {
    const running = instanceOf(a, 'running');
    const before = ask(podOf({containers: [a]}), [running]);
    const later = ask({...podOf({containers: [a]}), status: before}, [running], {now: now + 60_000});
    expect(later).toEqual(before);
  });
});

describe('a container', () => {
  test('that waits to be started again shows why, and how it last ended', () => {
    const waiting = new Map([['a', {reason: 'CrashLoopBackOff', message: 'back-off'}]]);
    const [status] = ask(podOf({containers: [a]}), [instanceOf(a, 'exited', {exitCode: 7, restarts: 2})], {waiting}).containerStatuses!;
    expect(status).toMatchObject({
      state: {waiting: {reason: 'CrashLoopBackOff'}},
      lastState: {terminated: {exitCode: 7}},
      restartCount: 2,
      ready: false,
      started: false,
    });
  });

  test('that ran and is nowhere has been lost', () => {
    const before = ask(podOf({containers: [a]}), [instanceOf(a, 'running')]);
    const [status] = ask({...podOf({containers: [a]}), status: before}, []).containerStatuses!;
    expect(status?.state.terminated).toMatchObject({exitCode: 137, reason: 'ContainerStatusUnknown'});
  });

  test('behind init containers is PodInitializing', () => {
    const status = ask(podOf({initContainers: [init], containers: [a]}), [instanceOf(init, 'running')]);
    expect(status.containerStatuses?.[0]?.state).toEqual({waiting: {reason: 'PodInitializing'}});
    expect(condition(status, 'Initialized')).toBe('False ContainersNotInitialized');
  });
});

test('an ephemeral container is never ready, and has not started: nobody asks it', () => {
  const shell = containerOf('shell');
  const pod = podOf({containers: [a], ephemeralContainers: [shell]});
  const [status] = ask(pod, [instanceOf(a, 'running'), instanceOf(shell, 'running')]).ephemeralContainerStatuses!;
  expect(status).toMatchObject({name: 'shell', ready: false, state: {running: {}}});
  expect(status).not.toHaveProperty('started');
});
