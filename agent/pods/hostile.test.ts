/** Pods that mean harm, and a runtime whose answers are not true: an event or an error, the node goes on, nothing outside is touched. */
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {KubeObject} from '../../shared/object.ts';
import {FakeRuntime} from '../runtime/fake.ts';
import {type Container, RuntimeError, type Sandbox} from '../runtime/runtime.ts';
import {podLabels} from './names.ts';
import type {Pod, PodSpec} from './pod.ts';
import {bytesOf, cpuQuota, milliCpu} from './resources.ts';
import {bounded, mostSeconds} from './seconds.ts';
import {containerOf, type FakeNode, fakeNode, podOf} from './testing.ts';

const configMap = (data: Record<string, string>): KubeObject => ({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'm'}, data});
const good = (): Pod => podOf({}, {name: 'good', uid: '00000000-0000-0000-0000-000000000002'});
const goodRuns = (node: FakeNode) => node.until(() => node.latest(good().metadata.uid)?.phase === 'Running', 'the other pod runs');

async function run(spec: Partial<PodSpec>, data: Record<string, string> = {}, runtime = new FakeRuntime(['img:1'])) {
  const node = await fakeNode(runtime, {
    references: {configMap: async () => configMap(data), secret: async () => undefined, follow: () => {}, unfollow: () => {}},
  });
  const beside = join(node.context.settings.rootDir, 'beside');
  await mkdir(beside);
  await writeFile(join(beside, 'file'), 'untouched');
  node.api(podOf(spec), good());
  await goodRuns(node);
  return {
    node,
    runtime,
    untouched: async () => expect([await readdir(beside), await readFile(join(beside, 'file'), 'utf8')]).toEqual([['file'], 'untouched']),
  };
}

const waiting = (node: FakeNode) => node.latest()?.containerStatuses?.[0]?.state.waiting;

describe('a hostile pod', () => {
  test.each([
    ['../../beside/file', 'must be a relative path'],
    ['/etc', 'must be a relative path'],
    ['a/../../../../beside', 'must be a relative path'],
  ])('with subPath %s does not leave its volume', async (subPath, words) => {
    const container = containerOf('c', {volumeMounts: [{name: 'v', mountPath: '/v', subPath}]});
    const {node, untouched} = await run({volumes: [{name: 'v', emptyDir: {}}], containers: [container]});
    await node.until(() => waiting(node)?.reason === 'CreateContainerConfigError', 'refused');
    expect(waiting(node)?.message).toContain(words);
    await untouched();
  });

  test('whose variable makes a path upwards of subPathExpr does not either', async () => {
    const container = containerOf('c', {
      env: [{name: 'UP', value: '../../../beside'}],
      volumeMounts: [{name: 'v', mountPath: '/v', subPathExpr: '$(UP)'}],
    });
    const {node, untouched} = await run({volumes: [{name: 'v', emptyDir: {}}], containers: [container]});
    await node.until(() => waiting(node)?.reason === 'CreateContainerConfigError', 'refused');
    await untouched();
  });

  test.each([
    ['a key', {configMap: {name: 'm'}}, {'../../../../beside/file': 'x'}],
    ['an item', {configMap: {name: 'm', items: [{key: 'k', path: '../../../../beside/file'}]}}, {k: 'x'}],
    ['a projected path', {projected: {sources: [{configMap: {name: 'm', items: [{key: 'k', path: '/etc/x'}]}}]}}, {k: 'x'}],
    ['a token', {projected: {sources: [{serviceAccountToken: {path: '../../token'}}]}}, {}],
    ['a label', {downwardAPI: {items: [{path: '..data/x', fieldRef: {fieldPath: 'metadata.name'}}]}}, {}],
    [
      'a file that is a folder',
      {
        configMap: {
          name: 'm',
          items: [
            {key: 'k', path: 'a'},
            {key: 'k', path: 'a/b'},
          ],
        },
      },
      {k: 'x'},
    ],
  ] as [
    string,
    object,
    Record<string, string>,
  ][])('whose volume has %s that leads elsewhere waits with an event', async (_, kind, data) => {
    const {node, untouched} = await run({volumes: [{name: 'v', ...kind}]}, data);
    await node.until(() => node.events.some((event) => event.includes('FailedMount')), 'the event');
    expect(node.latest()?.phase).toBe('Pending');
    await untouched();
  });

  test('whose environment is too large for the runtime says so in a status that the API takes', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const create = runtime.createContainer.bind(runtime);
    runtime.createContainer = async (id, config) => {
      const text = config.envs?.map(({value}) => value.toString()).join() ?? '';
      if (text.length > 1_000_000) throw new RuntimeError('failed', `message larger than max: ${text}`);
      return create(id, config);
    };
    const {node} = await run({containers: [containerOf('c', {env: [{name: 'BIG', value: 'x'.repeat(2_000_000)}]})]}, {}, runtime);
    await node.until(() => waiting(node)?.reason === 'CreateContainerError', 'refused');
    expect(waiting(node)!.message!.length).toBeLessThan(10_000);
  });

  test('with absurd numbers gets what can be had', async () => {
    const absurd = Number.MAX_SAFE_INTEGER;
    const probe = {exec: {command: ['true']}, periodSeconds: 2 ** 31 - 1, initialDelaySeconds: 2 ** 31 - 1, timeoutSeconds: 2 ** 31 - 1};
    const {node, runtime} = await run({
      terminationGracePeriodSeconds: absurd,
      activeDeadlineSeconds: 2 ** 31 - 1,
      containers: [containerOf('c', {livenessProbe: probe, lifecycle: {preStop: {exec: {command: ['true']}}}})],
    });
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    expect(runtime.calls.filter((call) => call.startsWith('exec'))).toEqual([]);
    let seconds = -1;
    const stop = runtime.stopContainer.bind(runtime);
    runtime.stopContainer = async (id, grace) => {
      seconds = grace;
      await stop(id, grace);
    };
    node.manager.removed(podOf());
    await node.until(() => node.manager.worker(podOf().metadata.uid) === undefined, 'gone');
    expect(seconds).toBeGreaterThan(mostSeconds - 60);
    expect(seconds).toBeLessThanOrEqual(mostSeconds);
    expect([bounded(-5), bounded(Number.NaN), bounded(Number.POSITIVE_INFINITY), bounded(7)]).toEqual([0, mostSeconds, mostSeconds, 7]);
    expect([bytesOf('999999999999E'), milliCpu('99999999999999')].every(Number.isSafeInteger)).toBe(true);
    expect(cpuQuota(milliCpu('99999999999999'), 100_000)).toBeGreaterThan(0);
  });
});

describe('a runtime that lies', () => {
  const labels = (pod: Pod) => podLabels(pod);
  const sandboxOf = (pod: Pod, more: Partial<Sandbox> = {}): Sandbox => ({
    ...{id: 's-lie', state: 0, createdAt: 1, annotations: {}, labels: labels(pod)},
    metadata: {name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid, attempt: 0},
    ...more,
  });

  test.each([
    ['a uid that is a path', sandboxOf(podOf({}, {uid: '../../beside'}))],
    ['a name that is a path', sandboxOf(podOf({}, {name: '../../../beside'}))],
    ['a namespace that is a path', sandboxOf(podOf({}, {namespace: '..'}))],
    ['no metadata', {...sandboxOf(podOf()), metadata: undefined} as unknown as Sandbox],
    ['no labels', {...sandboxOf(podOf()), labels: undefined} as unknown as Sandbox],
    ['metadata of another', sandboxOf(podOf(), {metadata: {name: 'x', namespace: 'x', uid: 'x', attempt: 0}})],
    ['marks of nobody', sandboxOf(podOf(), {labels: {'io.kubernetes.pod.uid': 'x'}})],
  ])('and lists a sandbox with %s changes nothing here', async (_, lie) => {
    const runtime = new FakeRuntime(['img:1']);
    const honest = runtime.sandboxes.bind(runtime);
    runtime.sandboxes = async (selector) => [...(await honest(selector)), lie];
    const {node, untouched} = await run({}, {}, runtime);
    await node.manager.list();
    await node.manager.list();
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    expect(runtime.calls.filter((call) => /^(stop|remove)/.test(call))).toEqual([]);
    expect([...node.manager.workers()]).toHaveLength(2);
    await untouched();
  });

  test('and lists containers of nobody, or of no name, changes nothing here', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const honest = runtime.containers.bind(runtime);
    const container = (more: Partial<Container>): Container => ({
      ...{id: 'lie', podSandboxId: 's', metadata: {name: 'c', attempt: 0}, image: {image: ''}, imageRef: '', state: 1, createdAt: 1},
      ...{labels: labels(podOf()), annotations: {}},
      ...more,
    });
    const lies = [container({}), container({id: ''}), container({labels: {...labels(podOf()), 'io.nodeagent.container.name': '../c'}})];
    runtime.containers = async (selector) => [...(await honest(selector)), ...lies];
    const {node} = await run({}, {}, runtime);
    await node.manager.list();
    await node.until(() => node.latest()?.containerStatuses?.[0]?.restartCount === 0 && node.latest()?.phase === 'Running', 'running');
    expect(runtime.calls.filter((call) => /^(stop|remove)/.test(call))).toEqual([]);
  });

  test('and tells of things that nobody knows is not listened to', async () => {
    const runtime = new FakeRuntime(['img:1']);
    let tell: Parameters<FakeRuntime['watch']>[0] = () => {};
    const watch = runtime.watch.bind(runtime);
    runtime.watch = (onEvent, onLost) => {
      tell = onEvent;
      return watch(onEvent, onLost);
    };
    const {node} = await run({}, {}, runtime);
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    for (const type of ['started', 'exited', 'oom', 'removed'] as const) tell({type, id: 'nobody'});
    // The pod's own container is said to have ended, and has not.
    tell({type: 'exited', id: node.latest()!.containerStatuses![0]!.containerID!.slice('fake://'.length)});
    await node.manager.list();
    expect(node.latest()?.phase).toBe('Running');
    expect(runtime.calls.filter((call) => call.startsWith('createContainer'))).toHaveLength(2);
  });

  test('and answers without what was asked for is asked again, while others go on', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const status = runtime.containerStatus.bind(runtime);
    let lies = 3;
    runtime.containerStatus = async (id) => {
      const found = await status(id);
      if (found?.metadata.name !== 'liar' || lies-- <= 0) return found;
      return {id} as never;
    };
    const {node} = await run({containers: [containerOf('liar')]}, {}, runtime);
    await node.manager.list();
    await node.manager.list();
    await node.until(() => node.latest()?.phase === 'Running', 'the truth');
  });
});
