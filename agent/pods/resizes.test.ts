import {describe, expect, test} from 'vitest';
import {FakeRuntime} from '../runtime/fake.ts';
import {RuntimeError} from '../runtime/runtime.ts';
import type {Pod, PodStatus, ResourceRequirements} from './pod.ts';
import {containerOf, type FakeNode, fakeNode, podOf} from './testing.ts';

const size = (cpu: string, memory: string): ResourceRequirements => ({requests: {cpu, memory}, limits: {cpu, memory}});

function podOfSize(resources: ResourceRequirements, generation: number, more: Parameters<typeof containerOf>[1] = {}): Pod {
  return podOf({containers: [containerOf('c', {resources, ...more})], restartPolicy: 'OnFailure'}, {generation});
}

const condition = (status: PodStatus | undefined, type: string) => status?.conditions?.find((entry) => entry.type === type);
const first = (node: FakeNode) => node.latest()?.containerStatuses?.[0];
const until = (node: FakeNode, test: () => boolean | undefined, what: string) => node.until(() => test() === true, what);

async function running(runtime: FakeRuntime, pod: Pod, more: Parameters<typeof fakeNode>[1] = {}): Promise<FakeNode> {
  const node = await fakeNode(runtime, more);
  node.api(pod);
  await until(node, () => node.latest()?.phase === 'Running', 'running');
  return node;
}

describe('a pod that is resized', () => {
  test('keeps its containers, and its status says what they have', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await running(runtime, podOfSize(size('100m', '64Mi'), 1));
    const id = first(node)?.containerID;
    node.manager.changed(podOfSize(size('200m', '128Mi'), 2));
    await until(node, () => first(node)?.resources?.limits?.cpu === '200m', 'the new size');
    expect(first(node)).toMatchObject({
      containerID: id,
      restartCount: 0,
      allocatedResources: {cpu: '200m', memory: '128Mi'},
      resources: size('200m', '128Mi'),
    });
    expect(condition(node.latest(), 'PodResizeInProgress')).toBeUndefined();
    expect(runtime.calls.filter((call) => call.startsWith('updateResources'))).toEqual([
      `updateResources ${JSON.stringify({cpuShares: 204, oomScoreAdj: -997, memoryLimitInBytes: 128 * 2 ** 20, cpuPeriod: 100_000, cpuQuota: 20_000})}`,
    ]);
    expect(node.events.filter((event) => event.includes('Resize'))).toEqual([
      'Normal ResizeStarted Pod resize started: {"containers":[{"name":"c","resources":{"limits":{"cpu":"200m","memory":"128Mi"},"requests":{"cpu":"200m","memory":"128Mi"}}}],"generation":2}',
      'Normal ResizeCompleted Pod resize completed: {"containers":[{"name":"c","resources":{"limits":{"cpu":"200m","memory":"128Mi"},"requests":{"cpu":"200m","memory":"128Mi"}}}],"generation":2}',
    ]);
  });

  test('waits while the node has no room, and gets it when there is', async () => {
    const runtime = new FakeRuntime(['img:1']);
    let full = false;
    const message = "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000";
    const admit = () => (full ? {reason: 'OutOfcpu', message: `Pod was rejected: ${message}`} : undefined);
    const node = await running(runtime, podOfSize(size('100m', '64Mi'), 1), {admit});
    full = true;
    node.manager.changed(podOfSize(size('3', '64Mi'), 2));
    await until(node, () => condition(node.latest(), 'PodResizePending')?.reason === 'Deferred', 'deferred');
    expect(condition(node.latest(), 'PodResizePending')).toMatchObject({status: 'True', message, observedGeneration: 2});
    expect(first(node)?.allocatedResources).toEqual({cpu: '100m', memory: '64Mi'});
    expect(node.manager.worker(podOf().metadata.uid)?.pod.spec.containers[0]?.resources).toEqual(size('100m', '64Mi'));
    full = false;
    await node.manager.list();
    await until(node, () => first(node)?.resources?.limits?.cpu === '3', 'room');
    expect(condition(node.latest(), 'PodResizePending')).toBeUndefined();
    expect(node.events.filter((event) => event.includes('ResizeDeferred'))).toHaveLength(1);
  });

  test('whose container wants to be restarted for it is restarted, whatever it exits with', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const policy = {resizePolicy: [{resourceName: 'memory', restartPolicy: 'RestartContainer'}]};
    const node = await running(runtime, podOfSize(size('100m', '64Mi'), 1, policy));
    node.manager.changed(podOfSize(size('100m', '128Mi'), 2, policy));
    await until(node, () => first(node)?.restartCount === 1 && node.latest()?.phase === 'Running', 'restarted');
    expect(first(node)?.resources).toEqual(size('100m', '128Mi'));
    expect(node.events).toContain('Normal Killing Container c resize requires restart');
    expect(runtime.calls.some((call) => call.startsWith('updateResources'))).toBe(false);
    await until(node, () => node.events.some((event) => event.startsWith('Normal ResizeCompleted')), 'told');
  });

  test('below what it uses is refused by the node, and says so', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await running(runtime, podOfSize(size('100m', '64Mi'), 1));
    runtime.containerStats = async () => [
      {
        attributes: {id: first(node)!.containerID!.slice('fake://'.length), metadata: {name: 'c', attempt: 0}, labels: {}},
        memory: {timestamp: 0, usageBytes: {value: 50 * 2 ** 20}},
      },
    ];
    node.manager.changed(podOfSize(size('100m', '32Mi'), 2));
    await until(node, () => condition(node.latest(), 'PodResizeInProgress')?.reason === 'Error', 'the error');
    expect(condition(node.latest(), 'PodResizeInProgress')?.message).toBe(
      'cannot decrease memory limits: attempting to set container "c" memory limit (33554432) below current usage (52428800)',
    );
    expect(first(node)?.resources).toEqual(size('100m', '64Mi'));
    expect(first(node)?.allocatedResources).toEqual({cpu: '100m', memory: '32Mi'});
  });

  test('that the runtime refuses is said, and tried again', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await running(runtime, podOfSize(size('100m', '64Mi'), 1));
    runtime.fail.updateResources = new RuntimeError('failed', 'no such cgroup');
    node.manager.changed(podOfSize(size('200m', '64Mi'), 2));
    await until(node, () => condition(node.latest(), 'PodResizeInProgress')?.message === 'no such cgroup', 'the error');
    delete runtime.fail.updateResources;
    node.manager.changed(podOfSize(size('200m', '64Mi'), 2));
    await until(node, () => first(node)?.resources?.limits?.cpu === '200m', 'after all');
    expect(condition(node.latest(), 'PodResizeInProgress')).toBeUndefined();
  });

  test('while nobody looked: a new agent knows what was agreed to, and takes it from there', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const before = await running(runtime, podOfSize(size('100m', '64Mi'), 1));
    before.manager.changed(podOfSize(size('200m', '64Mi'), 2));
    await until(before, () => first(before)?.resources?.limits?.cpu === '200m', 'resized');
    before.manager.stop();
    const calls = runtime.calls.length;
    const after = await fakeNode(runtime, {settings: before.context.settings, volumes: before.context.volumes});
    after.api({...podOfSize(size('200m', '64Mi'), 2), status: before.latest()!});
    await until(after, () => first(after)?.ready, 'running still');
    expect(runtime.calls.slice(calls)).toEqual([]);
    expect(after.events).toEqual([]);
    after.manager.stop();
    const last = await fakeNode(runtime, {settings: before.context.settings, volumes: before.context.volumes});
    last.api({...podOfSize(size('300m', '64Mi'), 3), status: before.latest()!});
    await until(last, () => first(last)?.resources?.limits?.cpu === '300m', 'resized again');
    expect(last.events.map((event) => event.split(' ')[1])).toEqual(['ResizeStarted', 'ResizeCompleted']);
  });
});
