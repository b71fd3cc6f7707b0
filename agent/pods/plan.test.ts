import {describe, expect, test} from 'vitest';
import {type Health, type Instance, type Plan, plan} from './plan.ts';
import type {Pod} from './pod.ts';
import {containerOf, instanceOf, observedOf, podOf} from './testing.ts';

const well: Health = {unhealthy: () => undefined, started: () => true};
const ask = (pod: Pod, instances: Instance[], more: {sandbox?: boolean; health?: Health; held?: number} = {}): Plan =>
  plan({
    pod,
    observed: observedOf(instances, 'sandbox' in more ? more.sandbox : true),
    health: more.health ?? well,
    heldUntil: () => more.held,
    now: 1000,
  });
const names = ({start}: Plan): string[] => start.map(({container}) => container.name);

const [a, b] = [containerOf('a'), containerOf('b')];
const init = containerOf('init');
const sidecar = containerOf('side', {restartPolicy: 'Always'});

describe('a pod is begun', () => {
  test('with a sandbox, and nothing else', () => {
    const next = ask(podOf(), [], {sandbox: undefined});
    expect(next).toMatchObject({sandboxAttempt: 0, replaceSandbox: false, start: []});
  });

  test('then all app containers, in order', () => {
    expect(names(ask(podOf({containers: [a, b]}), []))).toEqual(['a', 'b']);
  });

  test('but init containers come before them, one at a time', () => {
    const pod = podOf({initContainers: [init, containerOf('init2')], containers: [a]});
    expect(names(ask(pod, []))).toEqual(['init']);
    expect(names(ask(pod, [instanceOf(init, 'running', {kind: 'init'})]))).toEqual([]);
    expect(names(ask(pod, [instanceOf(init, 'exited', {kind: 'init'})]))).toEqual(['init2']);
  });

  test('a sidecar need only have started', () => {
    const pod = podOf({initContainers: [sidecar, init], containers: [a]});
    const running = instanceOf(sidecar, 'running', {kind: 'sidecar'});
    expect(names(ask(pod, []))).toEqual(['side']);
    expect(names(ask(pod, [running], {health: {...well, started: () => false}}))).toEqual([]);
    expect(names(ask(pod, [running]))).toEqual(['init']);
  });
});

describe('a container that has ended', () => {
  const cases: [policy: NonNullable<Pod['spec']['restartPolicy']>, exitCode: number, again: boolean][] = [
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Never', 0, false],
    ['Never', 1, false],
  ];
  test.each(cases)('under %s with code %i is started again: %s', (restartPolicy, exitCode, again) => {
    const next = ask(podOf({containers: [a], restartPolicy}), [instanceOf(a, 'exited', {exitCode})]);
    expect(names(next)).toEqual(again ? ['a'] : []);
    expect(next.done).toBe(!again);
  });

  test('counts its restarts on', () => {
    expect(ask(podOf({containers: [a]}), [instanceOf(a, 'exited', {restarts: 4})]).start[0]).toMatchObject({restarts: 5});
  });

  test('but one that was made and never started is replaced, and that is no restart', () => {
    expect(ask(podOf({containers: [a]}), [instanceOf(a, 'created', {restarts: 4})]).start[0]).toMatchObject({restarts: 4});
  });

  test('waits while it is held, and the plan says until when', () => {
    const next = ask(podOf({containers: [a]}), [instanceOf(a, 'exited', {exitCode: 1})], {held: 5000});
    expect(next).toMatchObject({start: [], wakeAt: 5000});
  });

  test('an init container that failed under Never ends the pod', () => {
    const pod = podOf({initContainers: [init], containers: [a], restartPolicy: 'Never'});
    expect(ask(pod, [instanceOf(init, 'exited', {exitCode: 1, kind: 'init'})])).toMatchObject({done: true, start: []});
  });

  test('a sidecar is restarted even under Never, and ends when the app has', () => {
    const pod = podOf({initContainers: [sidecar], containers: [a], restartPolicy: 'Never'});
    const app = instanceOf(a, 'running');
    expect(names(ask(pod, [instanceOf(sidecar, 'exited', {kind: 'sidecar', exitCode: 5}), app]))).toEqual(['side']);
    const ending = ask(pod, [instanceOf(sidecar, 'running', {kind: 'sidecar'}), instanceOf(a, 'exited')]);
    expect(ending.kill.map(({message}) => message)).toEqual(['Stopping container side']);
    expect(ending.done).toBe(false);
  });
});

describe('a container that runs', () => {
  test('is killed when its probe gave up on it, with the grace of the probe', () => {
    const running = instanceOf(a, 'running');
    const next = ask(podOf({containers: [a]}), [running], {health: {...well, unhealthy: () => ({message: 'sick', graceSeconds: 3})}});
    expect(next.kill).toEqual([{instance: running, message: 'sick', graceSeconds: 3}]);
  });

  test('is killed when its image has changed', () => {
    const next = ask(podOf({containers: [{...a, image: 'img:2'}]}), [instanceOf(a, 'running')]);
    expect(next.kill[0]?.message).toBe('Container a definition changed, will be restarted');
  });
});

describe('a sandbox that is lost', () => {
  test('is replaced, and everything starts again in the new one', () => {
    const pod = podOf({initContainers: [init], containers: [a]});
    const old = [instanceOf(init, 'exited', {kind: 'init'}), instanceOf(a, 'exited', {exitCode: 137})];
    expect(ask(pod, old, {sandbox: false})).toMatchObject({replaceSandbox: true, sandboxAttempt: 1, start: []});
    const elsewhere = old.map((instance) => ({...instance, sandboxId: 's0'}));
    expect(names(ask(pod, elsewhere))).toEqual(['init']);
  });

  test('is not replaced when all has been done', () => {
    const next = ask(podOf({containers: [a], restartPolicy: 'OnFailure'}), [instanceOf(a, 'exited')], {sandbox: false});
    expect(next).toMatchObject({done: true, replaceSandbox: false});
  });
});

test('an ephemeral container is started once, whatever the others do', () => {
  const debug = containerOf('debug');
  const pod = podOf({containers: [a], ephemeralContainers: [debug]});
  expect(names(ask(pod, [instanceOf(a, 'running')]))).toEqual(['debug']);
  expect(names(ask(pod, [instanceOf(a, 'running'), instanceOf(debug, 'exited', {kind: 'ephemeral', exitCode: 1})]))).toEqual([]);
});
