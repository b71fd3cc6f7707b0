import {afterEach, describe, expect, test} from 'vitest';
import {admin, TestApi} from '../../../test/api.ts';
import {ManualClock} from '../../clock.ts';
import {createApi} from '../../create-api.ts';
import {openMemory} from '../../storage/embedded/open.ts';

const pods = '/api/v1/namespaces/default/pods';
const nodes = '/api/v1/nodes';

let api: TestApi;

afterEach(() => api?.close());

const start = async (): Promise<TestApi> => {
  api = await TestApi.start({binder: true});
  return api;
};

interface NodeFacts {
  allocatable?: Record<string, string>;
  labels?: Record<string, string>;
  taints?: object[];
  ready?: string;
  unschedulable?: boolean;
}

async function addNode(name: string, facts: NodeFacts = {}): Promise<void> {
  const {allocatable = {cpu: '2', memory: '4Gi', pods: '110'}, labels = {}, taints, ready = 'True', unschedulable} = facts;
  const spec = {...(taints && {taints}), ...(unschedulable && {unschedulable})};
  const made = await api.post(nodes, {metadata: {name, labels: {'kubernetes.io/hostname': name, ...labels}}, spec});
  expect(made.code).toBe(201);
  await say(name, ready, allocatable);
}

const say = (name: string, ready: string, allocatable: Record<string, string>) =>
  api.ask(
    'PATCH',
    `${nodes}/${name}/status`,
    {status: {conditions: [{type: 'Ready', status: ready, reason: 'Said', message: ''}], allocatable, capacity: allocatable}},
    {'content-type': 'application/merge-patch+json'},
  );

async function addPod(name: string, spec: object = {}, metadata: object = {}): Promise<void> {
  const made = await api.post(pods, {metadata: {name, ...metadata}, spec: {containers: [{name: 'c', image: 'i'}], ...spec}});
  expect(made.text).toContain(`"name":"${name}"`);
}

const asking = (cpu: string, memory = '1Mi') => ({containers: [{name: 'c', image: 'i', resources: {requests: {cpu, memory}}}]});

// biome-ignore lint/suspicious/noExplicitAny: a pod
async function until(name: string, is: (pod: any) => boolean): Promise<any> {
  for (let turn = 0; turn < 2_000; turn++) {
    const {body} = await api.get(`${pods}/${name}`);
    if (is(body)) return body;
    await new Promise((done) => setImmediate(done));
  }
  throw new Error(`${name} never came to be so: ${(await api.get(`${pods}/${name}`)).text}`);
}

// biome-ignore lint/suspicious/noExplicitAny: a condition
const scheduled = (pod: any) => pod.status.conditions?.find((each: any) => each.type === 'PodScheduled');
const boundTo = async (name: string): Promise<string> => (await until(name, (pod) => pod.spec.nodeName)).spec.nodeName;
const refusal = async (name: string): Promise<string> => scheduled(await until(name, (pod) => scheduled(pod)?.status === 'False')).message;
const refusedWith = (name: string, message: string) => until(name, (pod) => scheduled(pod)?.message === message);

async function eventsOf(name: string, count = 1): Promise<{reason: string; message: string; type: string; reportingComponent: string}[]> {
  for (let turn = 0; turn < 2_000; turn++) {
    const {body} = await api.get(`/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=${name}`);
    if (body.items.length >= count) return body.items;
    await new Promise((done) => setImmediate(done));
  }
  throw new Error(`nothing was said of ${name}`);
}

/** Lets everything that is under way come to its end. */
const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await new Promise((done) => setImmediate(done));
};

describe('a pod gets a node', () => {
  test('and is told so, with an event as the scheduler writes it', async () => {
    await start();
    await addNode('one');
    await addPod('web');
    expect(await boundTo('web')).toBe('one');
    expect(scheduled(await until('web', () => true))).toMatchObject({status: 'True'});
    expect(await eventsOf('web')).toMatchObject([
      {type: 'Normal', reason: 'Scheduled', message: 'Successfully assigned default/web to one', reportingComponent: 'default-scheduler'},
    ]);
  });

  test('as soon as there is one that is ready', async () => {
    await start();
    await addPod('early');
    await settle();
    expect(scheduled(await until('early', () => true))).toBeUndefined();
    await addNode('one', {ready: 'False'});
    expect(await refusal('early')).toBe('0/1 nodes are available: 1 node(s) had untolerated taint(s).');
    await say('one', 'True', {cpu: '2', memory: '4Gi', pods: '110'});
    expect(await boundTo('early')).toBe('one');
  });

  test('when another leaves room', async () => {
    await start();
    await addNode('one');
    await addPod('first', asking('1500m'));
    await boundTo('first');
    await addPod('second', asking('1'));
    expect(await refusal('second')).toBe('0/1 nodes are available: 1 Insufficient cpu.');
    expect(await eventsOf('second')).toMatchObject([{type: 'Warning', reason: 'FailedScheduling'}]);
    await api.delete(`${pods}/first`, {gracePeriodSeconds: 0});
    expect(await boundTo('second')).toBe('one');
  });

  test('when another has done its work', async () => {
    await start();
    await addNode('one');
    await addPod('job', asking('2'));
    await boundTo('job');
    await addPod('next', asking('2'));
    await refusal('next');
    await api.ask('PATCH', `${pods}/job/status`, {status: {phase: 'Succeeded'}}, {'content-type': 'application/merge-patch+json'});
    expect(await boundTo('next')).toBe('one');
  });

  test('where most is free', async () => {
    await start();
    await addNode('one');
    await addNode('two');
    const names = Array.from({length: 8}, (_, index) => `p${index}`);
    for (const name of names) await addPod(name);
    const taken = await Promise.all(names.map(boundTo));
    expect(taken.filter((node) => node === 'one')).toHaveLength(4);
  });

  test('that nobody else is given while it is bound, be it changed meanwhile', async () => {
    await start();
    await addNode('one', {allocatable: {cpu: '1', memory: '1Gi', pods: '1'}});
    const changes = ['a', 'b'].map(async (name) => {
      await addPod(name);
      for (let turn = 0; turn < 5; turn++) await api.mergePatch(`${pods}/${name}`, {metadata: {labels: {turn: String(turn)}}});
    });
    await Promise.all(changes);
    await settle();
    const bound = await Promise.all(['a', 'b'].map(async (name) => (await api.get(`${pods}/${name}`)).body.spec.nodeName));
    expect(bound.filter(Boolean)).toEqual(['one']);
  });

  test('the more important one first', async () => {
    await start();
    await api.post('/apis/scheduling.k8s.io/v1/priorityclasses', {metadata: {name: 'high'}, value: 1000});
    await addNode('one', {allocatable: {cpu: '1', memory: '1Gi', pods: '1'}});
    await addPod('here');
    await boundTo('here');
    await addPod('low');
    await addPod('high', {priorityClassName: 'high'});
    expect(await refusal('low')).toBe('0/1 nodes are available: 1 Too many pods.');
    await refusal('high');
    await api.delete(`${pods}/here`, {gracePeriodSeconds: 0});
    expect(await boundTo('high')).toBe('one');
    expect((await until('low', () => true)).spec.nodeName).toBeUndefined();
  });

  test('a thousand of them, none beyond what a node has', async () => {
    await start();
    for (let index = 0; index < 10; index++) await addNode(`n${index}`, {allocatable: {cpu: '10', memory: '64Gi', pods: '110'}});
    const names = Array.from({length: 1_000}, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => addPod(name, asking('100m'))));
    const taken = new Map<string, number>();
    for (const name of names) {
      const node = await boundTo(name);
      taken.set(node, (taken.get(node) ?? 0) + 1);
    }
    expect([...taken.values()]).toEqual(Array(10).fill(100));
  });
});

describe('a pod waits and is told why', () => {
  const counts = (message: string) => `0/2 nodes are available: ${message}.`;

  test('each reason with the number of its nodes', async () => {
    await start();
    await addNode('small', {allocatable: {cpu: '1', memory: '1Gi', pods: '10'}});
    await addNode('away', {taints: [{key: 'gpu', value: 'yes', effect: 'NoSchedule'}]});
    await addPod('big', asking('4', '8Gi'));
    expect(await refusal('big')).toBe(counts('1 Insufficient cpu, 1 Insufficient memory, 1 node(s) had untolerated taint(s)'));
    await addPod('tolerant', {
      tolerations: [{key: 'gpu', operator: 'Equal', value: 'yes'}],
      nodeSelector: {'kubernetes.io/hostname': 'away'},
    });
    expect(await boundTo('tolerant')).toBe('away');
  });

  test('for a node that is cordoned, until it no longer is', async () => {
    await start();
    await addNode('one', {unschedulable: true});
    await addPod('web');
    expect(await refusal('web')).toBe('0/1 nodes are available: 1 node(s) were unschedulable.');
    await api.mergePatch(`${nodes}/one`, {spec: {unschedulable: null}});
    expect(await boundTo('web')).toBe('one');
  });

  test('for a label that no node has, until one has it', async () => {
    await start();
    await addNode('one');
    await addPod('web', {nodeSelector: {disk: 'ssd'}});
    expect(await refusal('web')).toBe("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.");
    await api.mergePatch(`${nodes}/one`, {metadata: {labels: {disk: 'ssd'}}});
    expect(await boundTo('web')).toBe('one');
  });

  test('for a port that is taken', async () => {
    await start();
    await addNode('one');
    const listens = (hostPort: number, hostIP?: string) => ({
      containers: [{name: 'c', image: 'i', ports: [{containerPort: 80, hostPort, ...(hostIP && {hostIP})}]}],
    });
    await addPod('first', listens(8080, '10.1.2.3'));
    await boundTo('first');
    await addPod('beside', listens(8080, '10.1.2.4'));
    await boundTo('beside');
    await addPod('second', listens(8080));
    expect(await refusal('second')).toBe("0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.");
  });

  test('and is told again only when the reason has changed, with one event a minute at most', async () => {
    await start();
    await addNode('one');
    await addPod('web', asking('64'));
    await refusedWith('web', '0/1 nodes are available: 1 Insufficient cpu.');
    const {resourceVersion} = (await until('web', () => true)).metadata;
    await api.mergePatch(`${nodes}/one`, {metadata: {labels: {colour: 'red'}}});
    await settle();
    expect((await until('web', () => true)).metadata.resourceVersion).toBe(resourceVersion);
    await addNode('two');
    await refusedWith('web', '0/2 nodes are available: 2 Insufficient cpu.');
    await settle();
    expect(await eventsOf('web')).toHaveLength(1);
    api.clock.advance(61_000);
    await addNode('three');
    await refusedWith('web', '0/3 nodes are available: 3 Insufficient cpu.');
    expect(await eventsOf('web', 2)).toHaveLength(2);
  });

  const beyond = 'is beyond the built-in binder: run kube-scheduler, or bind the pod yourself';
  const near = {topologyKey: 'kubernetes.io/hostname', labelSelector: {matchLabels: {app: 'db'}}};
  test.each([
    ['required pod affinity', {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [near]}}}],
    ['required pod anti-affinity', {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [near]}}}],
    [
      'a hard topology spread constraint',
      {topologySpreadConstraints: [{maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}}]},
    ],
  ])('for what the binder cannot judge: %s', async (what, spec) => {
    await start();
    await addNode('one');
    await addPod('web', spec);
    expect(await refusal('web')).toBe(`0/1 nodes are available: ${what} ${beyond}.`);
  });

  test('for a claim that is not there, not bound, or bound elsewhere', async () => {
    await start();
    await addNode('one');
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    await addPod('db', {volumes: [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}]});
    expect(await refusal('db')).toBe('0/1 nodes are available: persistentvolumeclaim "data" not found.');
    const resources = {requests: {storage: '1Gi'}};
    await api.post(claims, {metadata: {name: 'data'}, spec: {accessModes: ['ReadWriteOnce'], storageClassName: '', resources}});
    await refusedWith('db', `0/1 nodes are available: pod has unbound PersistentVolumeClaims ("data"), and to find volumes ${beyond}.`);
    const onTwo = {nodeSelectorTerms: [{matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'In', values: ['two']}]}]};
    const volume = {accessModes: ['ReadWriteOnce'], capacity: {storage: '1Gi'}, local: {path: '/data'}, nodeAffinity: {required: onTwo}};
    expect((await api.post('/api/v1/persistentvolumes', {metadata: {name: 'disk'}, spec: volume})).code).toBe(201);
    await api.mergePatch(`${claims}/data`, {spec: {volumeName: 'disk'}});
    await api.ask('PATCH', `${claims}/data/status`, {status: {phase: 'Bound'}}, {'content-type': 'application/merge-patch+json'});
    await refusedWith('db', "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity.");
    await addNode('two');
    expect(await boundTo('db')).toBe('two');
  });
});

describe('a pod is left alone', () => {
  const untouched = async (name: string) => {
    await settle();
    const {spec, status} = await until(name, () => true);
    expect(spec.nodeName).toBeUndefined();
    expect(scheduled({status})?.reason).not.toBe('Unschedulable');
  };

  test('that is for another scheduler, or is not yet to be scheduled', async () => {
    await start();
    await addNode('one');
    await addPod('theirs', {schedulerName: 'theirs'});
    await addPod('gated', {schedulingGates: [{name: 'example.com/wait'}]});
    await untouched('theirs');
    await untouched('gated');
    await api.mergePatch(`${pods}/gated`, {spec: {schedulingGates: []}});
    expect(await boundTo('gated')).toBe('one');
  });

  test('while a scheduler holds its lease, and bound when it is let go or runs out', async () => {
    await start();
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const renewTime = () => new Date(api.clock.now()).toISOString().replace('Z', '000Z');
    const lease = await api.post(leases, {
      metadata: {name: 'kube-scheduler'},
      spec: {holderIdentity: 'somebody', leaseDurationSeconds: 15, renewTime: renewTime()},
    });
    expect(lease.code).toBe(201);
    await addNode('one');
    await addPod('web');
    await untouched('web');
    api.clock.advance(10_000);
    await api.mergePatch(`${leases}/kube-scheduler`, {spec: {renewTime: renewTime()}});
    api.clock.advance(10_000);
    await untouched('web');
    api.clock.advance(6_000);
    expect(await boundTo('web')).toBe('one');
    await api.mergePatch(`${leases}/kube-scheduler`, {spec: {renewTime: renewTime()}});
    await addPod('again');
    await untouched('again');
    await api.mergePatch(`${leases}/kube-scheduler`, {spec: {holderIdentity: ''}});
    expect(await boundTo('again')).toBe('one');
  });
});

test('a node loses the taint it was born with when it is ready, and gets others as its conditions say', async () => {
  await start();
  await addNode('one', {taints: [{key: 'mine', effect: 'NoSchedule'}]});
  const taintsWhen = async (count: number) => {
    for (let turn = 0; turn < 2_000; turn++) {
      const taints = (await api.get(`${nodes}/one`)).body.spec.taints ?? [];
      if (taints.length === count) return taints;
      await new Promise((done) => setImmediate(done));
    }
    throw new Error('its taints stay as they are');
  };
  expect(await taintsWhen(1)).toEqual([{key: 'mine', effect: 'NoSchedule'}]);
  await say('one', 'Unknown', {pods: '1'});
  expect(await taintsWhen(2)).toMatchObject([{key: 'mine'}, {key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule'}]);
});

describe('a node that falls silent', () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const renewed = () => ({
    spec: {holderIdentity: 'one', leaseDurationSeconds: 40, renewTime: new Date(api.clock.now()).toISOString().replace('Z', '000Z')},
  });
  const readiness = async () => (await api.get(`${nodes}/one`)).body.status.conditions.find(({type}: {type: string}) => type === 'Ready');

  test('is Unknown, and gets no pods until it is heard of again', async () => {
    await start();
    await addNode('one');
    expect((await api.post(leases, {metadata: {name: 'one'}, ...renewed()})).code).toBe(201);
    await settle();
    api.clock.advance(40_000);
    await api.mergePatch(`${leases}/one`, renewed());
    await settle();
    api.clock.advance(40_000);
    await settle();
    expect(await readiness()).toMatchObject({status: 'True'});
    api.clock.advance(11_000);
    await settle();
    expect(await readiness()).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
    });
    await addPod('web');
    expect(await refusal('web')).toBe('0/1 nodes are available: 1 node(s) had untolerated taint(s).');
    await say('one', 'True', {cpu: '2', memory: '4Gi', pods: '110'});
    expect(await boundTo('web')).toBe('one');
  });

  test('while nobody was there to hear it has some seconds to be heard again', async () => {
    const clock = new ManualClock();
    const store = await openMemory({clock});
    api = await TestApi.start({store, clock});
    await addNode('one');
    await api.post(leases, {metadata: {name: 'one'}, ...renewed()});
    await api.close();
    clock.advance(600_000);
    api = new TestApi(createApi({store, clock, user: admin, binder: true}), clock);
    await api.api.start();
    await settle();
    clock.advance(10_000);
    await settle();
    expect(await readiness()).toMatchObject({status: 'True'});
    clock.advance(6_000);
    await settle();
    expect(await readiness()).toMatchObject({status: 'Unknown'});
  });

  test('is left to the controller manager where that is at work', async () => {
    await start();
    await addNode('one');
    await api.post(leases, {metadata: {name: 'one'}, ...renewed()});
    await settle();
    await api.post('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', {
      metadata: {name: 'kube-controller-manager'},
      spec: {...renewed().spec, leaseDurationSeconds: 600},
    });
    api.clock.advance(120_000);
    await settle();
    expect(await readiness()).toMatchObject({status: 'True'});
  });
});
