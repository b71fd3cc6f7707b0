import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {TestApi} from '../../test/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start({serviceClusterIpRange: '10.9.0.0/26', serviceNodePortRange: '30000-30039'});
});
afterEach(() => api.close());

const services = '/api/v1/namespaces/default/services';
const service = (name: string, more: object = {}) => ({metadata: {name}, spec: {ports: [{port: 80}], ...more}});
const nodePort = (name: string, port?: number) => service(name, {type: 'NodePort', ports: [{port: 80, ...(port && {nodePort: port})}]});
const claims = async () => {
  const counts = await api.api.store.counts();
  return [counts.get('ipaddresses.networking.k8s.io') ?? 0, counts.get('servicenodeports.internal') ?? 0];
};

describe('created all at once', () => {
  test('no two share an address or a port', async () => {
    const answers = await Promise.all(Array.from({length: 35}, (_, at) => api.post(services, nodePort(`s${at}`))));
    expect(answers.map(({code}) => code)).toEqual(Array(35).fill(201));
    const {items} = (await api.get(services)).body;
    const of = (read: (item: {spec: {clusterIP: string; ports: {nodePort?: number}[]}}) => unknown) => items.map(read).filter(Boolean);
    expect(new Set(of(({spec}) => spec.clusterIP)).size).toBe(36);
    expect(new Set(of(({spec}) => spec.ports[0]!.nodePort)).size).toBe(35);
  });

  test('of many that want the same address one gets it', async () => {
    const answers = await Promise.all(Array.from({length: 20}, (_, at) => api.post(services, service(`s${at}`, {clusterIP: '10.9.0.40'}))));
    expect(answers.filter(({code}) => code === 201)).toHaveLength(1);
    const refused = answers.find(({code}) => code !== 201)!;
    expect(refused.body).toMatchObject({
      code: 422,
      message: expect.stringContaining('failed to allocate IP 10.9.0.40: provided IP is already allocated'),
    });
  });

  test('of many with the same name one is made, and the others keep nothing', async () => {
    const before = await claims();
    const answers = await Promise.all(Array.from({length: 20}, () => api.post(services, nodePort('same'))));
    expect(answers.filter(({code}) => code === 201)).toHaveLength(1);
    expect(await claims()).toEqual([before[0]! + 1, before[1]! + 1]);
  });

  test('when nothing is free any more the rest are told so, and room that is made is used', async () => {
    const answers = await Promise.all(Array.from({length: 45}, (_, at) => api.post(services, nodePort(`s${at}`))));
    expect(answers.filter(({code}) => code === 201)).toHaveLength(40);
    expect(answers.find(({code}) => code !== 201)!.body).toMatchObject({
      code: 500,
      message: expect.stringContaining('failed to allocate a nodePort: range is full'),
    });
    const one = answers.find(({code}) => code === 201)!.body;
    await api.delete(`${services}/${one.metadata.name}`);
    expect((await api.post(services, nodePort('late'))).body.spec.ports[0].nodePort).toBe(one.spec.ports[0].nodePort);
  });
});

describe('given back', () => {
  test('when the service goes', async () => {
    const before = await claims();
    await api.post(services, service('gone', {type: 'NodePort', clusterIP: '10.9.0.41', ports: [{port: 80, nodePort: 30_005}]}));
    await api.delete(`${services}/gone`);
    expect(await claims()).toEqual(before);
    expect(
      (await api.post(services, service('next', {type: 'NodePort', clusterIP: '10.9.0.41', ports: [{port: 80, nodePort: 30_005}]}))).code,
    ).toBe(201);
  });

  test('when it goes by its last finalizer, or with its collection', async () => {
    const before = await claims();
    await api.post(services, {...nodePort('held'), metadata: {name: 'held', finalizers: ['example.com/a'], labels: {mine: ''}}});
    await api.delete(`${services}/held`);
    await api.mergePatch(`${services}/held`, {metadata: {finalizers: null}});
    expect((await api.get(`${services}/held`)).code).toBe(404);
    expect(await claims()).toEqual(before);
    for (const name of ['c1', 'c2']) await api.post(services, {...nodePort(name), metadata: {name, labels: {mine: ''}}});
    await api.delete(`${services}?labelSelector=mine`);
    expect(await claims()).toEqual(before);
  });

  test('when the create fails after it was claimed', async () => {
    const before = await claims();
    expect((await api.post(services, service('bad', {type: 'NodePort', sessionAffinity: 'Nope'}))).code).toBe(422);
    expect((await api.post(services, nodePort('Not-A-Name'))).code).toBe(422);
    expect(
      (
        await api.post(
          services,
          service('two', {
            type: 'NodePort',
            ports: [
              {name: 'a', port: 1, nodePort: 30_001},
              {name: 'b', port: 2, nodePort: 99},
            ],
          }),
        )
      ).code,
    ).toBe(422);
    expect(await claims()).toEqual(before);
  });

  test('when the service no longer needs it', async () => {
    await api.post(services, nodePort('turned', 30_007));
    const plain = await api.mergePatch(`${services}/turned`, {spec: {type: 'ClusterIP', ports: [{port: 80, nodePort: null}]}});
    expect(plain.body.spec.ports[0].nodePort).toBeUndefined();
    expect((await api.post(services, nodePort('next', 30_007))).code).toBe(201);
    const external = await api.mergePatch(`${services}/turned`, {
      spec: {type: 'ExternalName', externalName: 'a.example', clusterIP: null, clusterIPs: null, ports: null},
    });
    expect(external.code).toBe(200);
    expect((await api.post(services, service('heir', {clusterIP: plain.body.spec.clusterIP}))).code).toBe(201);
  });

  test('but not while an update is refused', async () => {
    const {body} = await api.post(services, nodePort('stays', 30_009));
    expect((await api.mergePatch(`${services}/stays`, {spec: {clusterIP: '10.9.0.50', clusterIPs: ['10.9.0.50']}})).code).toBe(422);
    expect((await api.mergePatch(`${services}/stays`, {spec: {type: 'ClusterIP', sessionAffinity: 'Nope'}})).code).toBe(422);
    expect((await api.get(`${services}/stays`)).body).toEqual(body);
    expect((await api.post(services, nodePort('thief', 30_009))).code).toBe(422);
    expect((await api.post(services, service('free', {clusterIP: '10.9.0.50'}))).code).toBe(201);
  });
});

test('headless services and external names take no address', async () => {
  const before = await claims();
  expect((await api.post(services, service('headless', {clusterIP: 'None'}))).body.spec.clusterIP).toBe('None');
  expect(
    (await api.post(services, {metadata: {name: 'named'}, spec: {type: 'ExternalName', externalName: 'a.example'}})).body.spec.clusterIP,
  ).toBeUndefined();
  expect(await claims()).toEqual(before);
});
