import {describe, expect, test} from 'vitest';
import {FakeRuntime} from '../runtime/fake.ts';
import {RuntimeError} from '../runtime/runtime.ts';
import type {Pod} from './pod.ts';
import {containerOf, fakeNode, podOf} from './testing.ts';

const uid = podOf().metadata.uid;
const deleting = (pod: Pod, seconds = 1): Pod => ({
  ...pod,
  metadata: {...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: seconds},
});

describe('a pod on a node', () => {
  test('runs: sandbox, container, address, status, and the events that tell of it', async () => {
    const node = await fakeNode(new FakeRuntime(['img:1']));
    node.api(podOf());
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    expect(node.latest()).toMatchObject({
      podIP: '10.9.0.1',
      hostIP: '192.0.2.1',
      qosClass: 'BestEffort',
      containerStatuses: [{ready: true, started: true, restartCount: 0}],
    });
    expect(node.events.map((event) => event.split(' ')[1])).toEqual(['Pulled', 'Created', 'Started']);
  });

  test('is deleted: containers stop, the sandbox goes, then the API hears of it, and nothing is left', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await fakeNode(runtime);
    const pod = podOf();
    node.api(pod);
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    node.manager.changed(deleting(pod));
    await node.until(() => node.manager.worker(uid) === undefined, 'gone');
    expect(node.deleted).toEqual([uid]);
    expect(node.events.at(-1)).toBe('Normal Killing Stopping container c');
    const ends = runtime.calls.map((call) => call.split(' ')[0]).filter((name) => /^(stop|remove)/.test(name!));
    expect(ends.slice(0, 2)).toEqual(['stopContainer', 'stopSandbox']);
    await node.until(() => runtime.calls.some((call) => call.startsWith('removeSandbox')), 'sandbox removed');
    expect(await node.context.volumes.present()).toEqual([]);
  });

  test('whose container ends is Succeeded or Failed under Never, and its message is kept', async () => {
    const runtime = new FakeRuntime(['img:1']);
    runtime.behaviour = () => ({exitCode: 3});
    const node = await fakeNode(runtime);
    node.api(podOf({restartPolicy: 'Never'}));
    await node.until(() => node.latest()?.phase === 'Failed', 'failed');
    expect(node.latest()?.containerStatuses?.[0]?.state.terminated).toMatchObject({exitCode: 3, reason: 'Error'});
    expect(node.latest()?.conditions?.find(({type}) => type === 'Ready')).toMatchObject({status: 'False', reason: 'PodFailed'});
  });

  test('that ends at once is restarted at once, then held back', async () => {
    const runtime = new FakeRuntime(['img:1']);
    runtime.behaviour = () => ({exitCode: 1});
    const node = await fakeNode(runtime);
    node.api(podOf());
    await node.until(() => node.latest()?.containerStatuses?.[0]?.state.waiting?.reason === 'CrashLoopBackOff', 'held back');
    expect(node.latest()?.containerStatuses?.[0]).toMatchObject({restartCount: 1, lastState: {terminated: {exitCode: 1}}});
    expect(node.latest()?.containerStatuses?.[0]?.state.waiting?.message).toMatch(/^back-off 10s restarting failed container=c pod=p_ns\(/);
    expect(node.latest()?.phase).toBe('Running');
  });

  test('is found again by a new agent, which starts nothing anew', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const first = await fakeNode(runtime);
    first.api(podOf());
    await first.until(() => first.latest()?.phase === 'Running', 'running');
    first.manager.stop();
    const before = runtime.calls.length;
    let looks = 0;
    for (const look of ['containerStatus', 'sandboxStatus'] as const) {
      const honest = runtime[look].bind(runtime);
      runtime[look] = async (id: string): Promise<never> => {
        looks += 1;
        return (await honest(id)) as never;
      };
    }
    const second = await fakeNode(runtime, {settings: first.context.settings, volumes: first.context.volumes});
    second.api({...podOf(), status: first.latest()!});
    await second.until(
      () => second.latest()?.phase === 'Running' && second.latest()?.containerStatuses?.[0]?.ready === true,
      'running still',
    );
    expect(runtime.calls.slice(before)).toEqual([]);
    // A hundred pods would be two hundred questions, before a new one gets its turn.
    expect(looks).toBe(0);
    expect(second.latest()).toMatchObject({podIP: first.latest()!.podIP, startTime: first.latest()!.startTime});
    expect(second.latest()?.containerStatuses?.[0]?.containerID).toBe(first.latest()?.containerStatuses?.[0]?.containerID);
  });

  test('that no source names any more is ended, what others made is left alone', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const foreign = {
      metadata: {name: 'x', namespace: 'x', uid: 'x', attempt: 0},
      logDirectory: '',
      labels: {'io.kubernetes.pod.uid': 'x'},
      annotations: {},
    };
    const other = await runtime.runSandbox(foreign);
    const first = await fakeNode(runtime);
    first.api(podOf());
    await first.until(() => first.latest()?.phase === 'Running', 'running');
    first.manager.stop();
    const second = await fakeNode(runtime);
    second.api();
    await second.manager.list();
    await second.until(() => runtime.calls.some((call) => call.startsWith('removeSandbox')), 'ended');
    expect((await runtime.sandboxes()).map(({id}) => id)).toEqual([other]);
  });

  test('whose sandbox is lost gets another', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await fakeNode(runtime);
    node.api(podOf());
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    runtime.loseSandbox(node.manager.worker(uid)!.sandboxId!);
    await node.manager.list();
    await node.until(() => node.latest()?.podIP === '10.9.0.2' && node.latest()?.containerStatuses?.[0]?.restartCount === 1, 'another');
    expect(node.events.some((event) => event.includes('SandboxChanged'))).toBe(true);
  });

  test('whose image is not there says so, and stays', async () => {
    const node = await fakeNode(new FakeRuntime());
    node.api(podOf());
    await node.until(() => node.latest()?.containerStatuses?.[0]?.state.waiting?.reason === 'ErrImagePull', 'the reason');
    expect(node.latest()?.phase).toBe('Pending');
    expect(node.events).toContain('Warning Failed Error: ErrImagePull');
  });

  test('with a volume that cannot be made waits in ContainerCreating', async () => {
    const node = await fakeNode(new FakeRuntime(['img:1']));
    node.api(podOf({volumes: [{name: 'v', configMap: {name: 'nowhere'}}]}));
    await node.until(() => node.events.length > 0, 'an event');
    expect(node.events[0]).toBe('Warning FailedMount MountVolume.SetUp failed for volume "v" : configmap "nowhere" not found');
    expect(node.latest()?.containerStatuses?.[0]?.state).toEqual({waiting: {reason: 'ContainerCreating'}});
  });

  test('that the node cannot take is Failed, and nothing is begun', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await fakeNode(runtime, {admit: () => ({reason: 'OutOfcpu', message: 'no'})});
    node.api(podOf());
    await node.until(() => node.latest()?.phase === 'Failed', 'refused');
    expect(node.latest()).toMatchObject({reason: 'OutOfcpu', message: 'no'});
    expect(runtime.calls).toEqual([]);
  });

  test('whose runtime refuses a sandbox tries again later', async () => {
    const runtime = new FakeRuntime(['img:1']);
    runtime.fail.runSandbox = new RuntimeError('failed', 'no network');
    const node = await fakeNode(runtime);
    node.api(podOf());
    await node.until(() => node.events.includes('Warning FailedCreatePodSandBox Failed to create pod sandbox: no network'), 'the event');
    delete runtime.fail.runSandbox;
    await node.until(() => node.latest()?.phase === 'Running', 'running after all');
  });

  test('with a failing postStart kills the container, and starts it again', async () => {
    const runtime = new FakeRuntime(['img:1']);
    let failures = 1;
    runtime.onExec = () => ({stdout: new Uint8Array(), stderr: new Uint8Array(), exitCode: failures-- > 0 ? 1 : 0});
    const node = await fakeNode(runtime);
    node.api(podOf({containers: [containerOf('c', {lifecycle: {postStart: {exec: {command: ['hook']}}}})]}));
    await node.until(() => node.latest()?.containerStatuses?.[0]?.restartCount === 1 && node.latest()?.phase === 'Running', 'the second');
    expect(node.events).toContain('Normal Killing FailedPostStartHook');
  });
});
