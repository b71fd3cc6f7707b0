import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {TestApi} from '../../../test/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await TestApi.start();
});
afterAll(() => api.close());

const core = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default';
const pods = `${core}/pods`;
const podSpec = {containers: [{name: 'c', image: 'i'}]};
const template = {metadata: {labels: {a: 'b'}}, spec: podSpec};
const patch = (url: string, body: unknown, type = 'merge-patch') =>
  api.ask('PATCH', url, body, {'content-type': `application/${type}+json`});
const pod = async (name: string, more: object = {}, labels: object = {a: 'b'}) => {
  const {code, body} = await api.post(pods, {metadata: {name, labels}, spec: {...podSpec, ...more}});
  expect([code, body.message]).toEqual([201, undefined]);
  return body;
};

describe('scale', () => {
  const workloads = [
    ['deployments', apps, {replicas: 2, selector: {matchLabels: {a: 'b'}}, template}],
    ['replicasets', apps, {replicas: 2, selector: {matchLabels: {a: 'b'}}, template}],
    ['statefulsets', apps, {replicas: 2, serviceName: 's', selector: {matchLabels: {a: 'b'}}, template}],
    ['replicationcontrollers', core, {replicas: 2, selector: {a: 'b'}, template}],
  ] as const;

  test.each(workloads)('%s are read, written and patched as a Scale', async (resource, root, spec) => {
    const url = `${root}/${resource}`;
    expect((await api.post(url, {metadata: {name: 'w'}, spec})).code).toBe(201);
    const {body: scale} = await api.get(`${url}/w/scale`);
    expect(scale).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: {name: 'w', namespace: 'default'},
      spec: {replicas: 2},
      status: {selector: 'a=b'},
    });
    const put = await api.put(`${url}/w/scale`, {...scale, spec: {replicas: 3}});
    expect([put.code, put.body.spec]).toEqual([200, {replicas: 3}]);
    expect((await api.put(`${url}/w/scale`, {...scale, spec: {replicas: 9}})).body.reason).toBe('Conflict');
    const patched = await patch(`${url}/w/scale`, {spec: {replicas: 4}});
    expect([patched.code, patched.body.kind, patched.body.spec]).toEqual([200, 'Scale', {replicas: 4}]);
    const {body} = await api.get(`${url}/w`);
    expect([body.spec.replicas, body.metadata.resourceVersion]).toEqual([4, patched.body.metadata.resourceVersion]);
    expect((await patch(`${url}/w/scale`, {spec: {replicas: -1}})).body.reason).toBe('Invalid');
    expect((await api.get(`${url}/nope/scale`)).code).toBe(404);
    expect((await api.delete(`${url}/w/scale`)).code).toBe(405);
  });
});

describe('binding', () => {
  const bind = (name: string, target: object = {kind: 'Node', name: 'n'}, url = `${pods}/${name}/binding`) =>
    api.post(url, {metadata: {name}, target});

  test('gives a pod its node, once', async () => {
    await pod('bound');
    expect((await bind('bound')).body).toMatchObject({kind: 'Status', status: 'Success', code: 201});
    const {body} = await api.get(`${pods}/bound`);
    expect(body.spec.nodeName).toBe('n');
    expect(body.status.conditions).toContainEqual(expect.objectContaining({type: 'PodScheduled', status: 'True'}));
    expect((await bind('bound')).body).toMatchObject({
      code: 409,
      message: expect.stringContaining('pod bound is already assigned to node "n"'),
    });
  });

  test('of two schedulers only one wins', async () => {
    await pod('contested');
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => bind('contested', {kind: 'Node', name})));
    expect(answers.map(({code}) => code).sort()).toEqual([201, 409, 409, 409]);
  });

  test('through the collection of bindings, too', async () => {
    await pod('collected');
    expect((await bind('collected', undefined, `${core}/bindings`)).code).toBe(201);
    expect((await api.get(`${pods}/collected`)).body.spec.nodeName).toBe('n');
  });

  test('needs a node', async () => {
    await pod('unbound');
    expect((await bind('unbound', {})).body.reason).toBe('Invalid');
    expect((await bind('unbound', {kind: 'Pod', name: 'x'})).body.reason).toBe('Invalid');
    expect((await bind('absent')).code).toBe(404);
  });
});

describe('eviction', () => {
  const evict = (name: string, more: object = {}) =>
    api.post(`${pods}/${name}/eviction`, {kind: 'Eviction', apiVersion: 'policy/v1', metadata: {name}, ...more});
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const running = async (name: string, labels: object) => {
    await pod(name, {}, labels);
    await patch(`${pods}/${name}/status`, {status: {phase: 'Running', conditions: [{type: 'Ready', status: 'True'}]}});
  };
  const budget = async (name: string, labels: object, disruptionsAllowed: number) => {
    const {body} = await api.post(budgets, {metadata: {name}, spec: {minAvailable: 1, selector: {matchLabels: labels}}});
    await patch(`${budgets}/${name}/status`, {
      status: {
        observedGeneration: body.metadata.generation,
        disruptionsAllowed,
        currentHealthy: 1 + disruptionsAllowed,
        desiredHealthy: 1,
        expectedPods: 1 + disruptionsAllowed,
      },
    });
  };

  test('without a budget is a delete', async () => {
    await running('free', {app: 'free'});
    expect((await evict('free')).body).toMatchObject({kind: 'Status', status: 'Success', code: 201});
    expect((await api.get(`${pods}/free`)).code).toBe(404);
  });

  test('spends the budget, and is refused when that is spent', async () => {
    await budget('tight', {app: 'tight'}, 1);
    for (const name of ['t1', 't2']) await running(name, {app: 'tight'});
    expect((await evict('t1')).code).toBe(201);
    const {body: after} = await api.get(`${budgets}/tight`);
    expect([after.status.disruptionsAllowed, Object.keys(after.status.disruptedPods)]).toEqual([0, ['t1']]);
    const refused = await evict('t2');
    expect(refused.body).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {causes: [{reason: 'DisruptionBudget', message: 'The disruption budget tight needs 1 healthy pods and has 2 currently'}]},
    });
    expect((await api.get(`${pods}/t2`)).code).toBe(200);
  });

  test('at the same time spends it only once', async () => {
    await budget('raced', {app: 'raced'}, 1);
    const names = ['r1', 'r2', 'r3', 'r4'];
    for (const name of names) await running(name, {app: 'raced'});
    const answers = await Promise.all(names.map((name) => evict(name)));
    expect(answers.map(({code}) => code).sort()).toEqual([201, 429, 429, 429]);
  });

  test('rehearsed spends nothing', async () => {
    await budget('dry', {app: 'dry'}, 1);
    await running('d1', {app: 'dry'});
    expect((await evict('d1', {deleteOptions: {dryRun: ['All']}})).code).toBe(201);
    expect((await api.get(`${budgets}/dry`)).body.status.disruptionsAllowed).toBe(1);
    expect((await api.get(`${pods}/d1`)).code).toBe(200);
  });

  test('knows which pod is meant', async () => {
    await running('meant', {app: 'meant'});
    expect((await evict('meant', {deleteOptions: {preconditions: {uid: 'other'}}})).body.reason).toBe('Conflict');
    expect((await evict('absent')).code).toBe(404);
  });
});

describe('of pods', () => {
  test('ephemeral containers are added, never changed', async () => {
    const made = await pod('debugged');
    const one = {name: 'shell', image: 'busybox'};
    const added = await patch(`${pods}/debugged/ephemeralcontainers`, {spec: {ephemeralContainers: [one]}}, 'strategic-merge-patch');
    expect([added.code, added.body.spec.ephemeralContainers.map(({name}: {name: string}) => name)]).toEqual([200, ['shell']]);
    expect(
      (await patch(`${pods}/debugged/ephemeralcontainers`, {spec: {ephemeralContainers: [{...one, image: 'other'}]}})).body.reason,
    ).toBe('Invalid');
    expect(
      (
        await api.put(`${pods}/debugged/ephemeralcontainers`, {
          ...made,
          metadata: {name: 'debugged'},
          spec: {...made.spec, ephemeralContainers: []},
        })
      ).body.reason,
    ).toBe('Invalid');
    const plain = await patch(`${pods}/debugged`, {spec: {ephemeralContainers: [one, {name: 'two', image: 'x'}]}});
    expect(plain.code).toBe(422);
  });

  test('resources change by resize only', async () => {
    const containers = [{name: 'c', image: 'i', resources: {requests: {cpu: '100m'}, limits: {cpu: '200m'}}}];
    await pod('sized', {containers});
    const change = {spec: {containers: [{name: 'c', resources: {requests: {cpu: '150m'}}}]}};
    const resized = await patch(`${pods}/sized/resize`, change, 'strategic-merge-patch');
    expect([resized.code, resized.body.spec?.containers[0].resources.requests]).toEqual([200, {cpu: '150m'}]);
    expect(
      (await patch(`${pods}/sized`, {spec: {containers: [{name: 'c', resources: {requests: {cpu: '180m'}}}]}}, 'strategic-merge-patch'))
        .body.reason,
    ).toBe('Invalid');
    const image = await patch(`${pods}/sized/resize`, {spec: {containers: [{name: 'c', image: 'other'}]}}, 'strategic-merge-patch');
    expect([image.code === 422 || image.body.spec.containers[0].image === 'i']).toEqual([true]);
  });

  test('status is written by its subresource only', async () => {
    await pod('stated');
    await patch(`${pods}/stated`, {status: {phase: 'Running'}});
    expect((await api.get(`${pods}/stated`)).body.status.phase).toBe('Pending');
    const {body} = await patch(`${pods}/stated/status`, {status: {phase: 'Running'}, metadata: {labels: {ignored: 'x'}}});
    expect(body.status.phase).toBe('Running');
    expect((await api.get(`${pods}/stated/status`)).body).toEqual((await api.get(`${pods}/stated`)).body);
  });
});

/** For CN=someone. */
const request = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITk1IUUNBUUF3RWpFUU1BNEdBMVVFQXd3SGMyOXRaVzl1WlRCWk1CTUdCeX',
  'FHU000OUFnRUdDQ3FHU000OQpBd0VIQTBJQUJEbWtzVTQ0d1MzYUVaVzFuMUN0aWc4OVgwWk9RRTF4NSt3czczQ3pBeHdUMitURkpNRmJWQ0Jv',
  'CmVzNVZ0RFJVYUpjUGlDdi8rTUpSTU1jTTdoaFNwN2lnQURBS0JnZ3Foa2pPUFFRREFnTkpBREJHQWlFQTNpU3YKdHlQaUZRVEc1WStZVHdBUW',
  'I2ZHZCblYzUU9sR3RLSGV2YXNwZW80Q0lRQ3dscmF6c05STmRvQnR2VDI5UXRGQQo0eHFkZUpjM0VvL3FPL2U4WWZqaHZRPT0KLS0tLS1FTkQg',
  'Q0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==',
].join('');

test('a signing request is approved by approval only', async () => {
  const url = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const made = await api.post(url, {metadata: {name: 'csr'}, spec: {request, signerName: 'example.com/signer', usages: ['client auth']}});
  expect([made.code, made.body.message]).toEqual([201, undefined]);
  const approved = {type: 'Approved', status: 'True', reason: 'Told'};
  const plain = await patch(`${url}/csr`, {status: {conditions: [approved]}});
  expect(plain.body.status.conditions ?? []).toEqual([]);
  const approval = await patch(`${url}/csr/approval`, {status: {conditions: [approved]}});
  expect(approval.body.status.conditions).toMatchObject([approved]);
});

test.each(['constructor', '__proto__', 'toString', 'nope', 'status/more', 'scale'])('%s is no subresource of a pod', async (name) => {
  for (const method of ['GET', 'PUT', 'PATCH', 'POST']) expect((await api.ask(method, `${pods}/any/${name}`)).code).toBe(404);
});
