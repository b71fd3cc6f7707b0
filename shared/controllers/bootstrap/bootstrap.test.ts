import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {Api} from '../../api.ts';
import {createApi} from '../../create-api.ts';
import {isReason} from '../../errors.ts';
import type {KubeObject} from '../../object.ts';
import type {Store} from '../../storage/contract.ts';
import {openMemory} from '../../storage/embedded/open.ts';

const rbac = (resource: string) => ({groupVersion: 'rbac.authorization.k8s.io/v1', resource});
const inNamespace = (resource: string, namespace: string, groupVersion = 'v1') => ({groupVersion, resource, namespace});

async function startOn(store: Store, port: number, reconciled = false): Promise<Api> {
  const api = createApi({
    store,
    caCertificate: 'CA',
    clientCaCertificate: 'CLIENT CA',
    serviceAccountIssuer: 'https://kubernetes.default.svc',
    advertise: {address: '192.0.2.1', port},
    reconciled,
  });
  await api.start();
  return api;
}

/** Asks until it holds: the controllers work beside us. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const answer = await ask().catch((error: unknown) => {
      if (!isReason(error, 'NotFound')) throw error;
      return undefined;
    });
    if (answer !== undefined) return answer;
    await new Promise(setImmediate);
  }
  throw new Error('it never came');
}

describe('a cluster', () => {
  let store: Store;
  let api: Api;
  beforeAll(async () => {
    store = await openMemory();
    api = await startOn(store, 1_234);
  });
  afterAll(async () => {
    await api.close();
    await store.close();
  });

  test('starts with what the reference starts with', async () => {
    const counts = await store.counts();
    const wanted: Record<string, number> = {
      namespaces: 4,
      'clusterroles.rbac.authorization.k8s.io': 69,
      'clusterrolebindings.rbac.authorization.k8s.io': 50,
      'roles.rbac.authorization.k8s.io': 7,
      'rolebindings.rbac.authorization.k8s.io': 7,
      'flowschemas.flowcontrol.apiserver.k8s.io': 11,
      'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': 8,
      'priorityclasses.scheduling.k8s.io': 2,
      'apiservices.apiregistration.k8s.io': 21,
      'servicecidrs.networking.k8s.io': 1,
      'ipaddresses.networking.k8s.io': 1,
      services: 1,
      endpoints: 1,
      'endpointslices.discovery.k8s.io': 1,
      serviceaccounts: 4,
      configmaps: 6,
    };
    expect(Object.fromEntries(Object.keys(wanted).map((type) => [type, counts.get(type)]))).toEqual(wanted);
  });

  test('that is a copy of another one has what that one has, and an address of its own', async () => {
    await api.client.delete(rbac('clusterroles'), 'view');
    const copied = await store.fork();
    const copy = await startOn(copied, 4_321, true);
    const service = await copy.client.get(inNamespace('services', 'default'), 'kubernetes');
    expect(service['spec'].ports).toMatchObject([{port: 443, targetPort: 4_321}]);
    await expect(copy.client.get(rbac('clusterroles'), 'view')).rejects.toMatchObject({reason: 'NotFound'});
    await copy.close();
    await copied.close();
    const restarted = await startOn(store, 1_234);
    expect(await restarted.client.get(rbac('clusterroles'), 'view')).toBeDefined();
    await restarted.close();
  });

  test('has the API as a service', async () => {
    const service = await api.client.get(inNamespace('services', 'default'), 'kubernetes');
    expect(service['spec']).toMatchObject({clusterIP: '10.0.0.1', ports: [{name: 'https', port: 443, targetPort: 1_234}]});
    const endpoints = await api.client.get(inNamespace('endpoints', 'default'), 'kubernetes');
    expect(endpoints['subsets']).toEqual([{addresses: [{ip: '192.0.2.1'}], ports: [{name: 'https', port: 1_234, protocol: 'TCP'}]}]);
  });

  test('says in its flow schemas that their levels exist', async () => {
    const schema = await api.client.get({groupVersion: 'flowcontrol.apiserver.k8s.io/v1', resource: 'flowschemas'}, 'exempt');
    expect(schema['status'].conditions).toMatchObject([{type: 'Dangling', status: 'False', reason: 'Found'}]);
  });

  test('shows in its aggregated roles what they gather', async () => {
    const view: KubeObject = await api.client.get(rbac('clusterroles'), 'view');
    const gathered = await api.client.get(rbac('clusterroles'), 'system:aggregate-to-view');
    expect(view['rules']).toEqual(gathered['rules']);
    const admin = await api.client.get(rbac('clusterroles'), 'admin');
    expect(admin['rules'].length).toBeGreaterThan(view['rules'].length);
  });

  test('gives a new namespace what it needs, and again when it is deleted', async () => {
    const {client} = api;
    await client.create({groupVersion: 'v1', resource: 'namespaces'}, {metadata: {name: 'new'}});
    const account = await until(() => client.get(inNamespace('serviceaccounts', 'new'), 'default'));
    const rootCa = await until(() => client.get(inNamespace('configmaps', 'new'), 'kube-root-ca.crt'));
    expect(rootCa['data']).toEqual({'ca.crt': 'CA'});
    await client.delete(inNamespace('serviceaccounts', 'new'), 'default');
    await client.patch(inNamespace('configmaps', 'new'), 'kube-root-ca.crt', 'application/merge-patch+json', {data: {'ca.crt': 'X'}});
    const again = await until(() => client.get(inNamespace('serviceaccounts', 'new'), 'default'));
    expect(again.metadata.uid).not.toBe(account.metadata.uid);
    await until(async () => {
      const restored = await client.get(inNamespace('configmaps', 'new'), 'kube-root-ca.crt');
      return restored['data']['ca.crt'] === 'CA' ? restored : undefined;
    });
  });

  test('on a later start writes only what differs', async () => {
    const {client} = api;
    await client.delete(rbac('clusterrolebindings'), 'system:discovery');
    await client.patch(rbac('clusterroles'), 'system:basic-user', 'application/merge-patch+json', {rules: []});
    const before = await store.head('clusterroles.rbac.authorization.k8s.io');
    await api.close();
    api = await startOn(store, 5_678);
    expect(await api.client.get(rbac('clusterrolebindings'), 'system:discovery')).toBeDefined();
    expect((await api.client.get(rbac('clusterroles'), 'system:basic-user'))['rules']).toHaveLength(3);
    expect((await api.client.get(inNamespace('services', 'default'), 'kubernetes'))['spec'].ports).toMatchObject([{targetPort: 5_678}]);
    const roles = await store.log(
      'clusterroles.rbac.authorization.k8s.io',
      before,
      await store.head('clusterroles.rbac.authorization.k8s.io'),
    );
    expect(roles.map(({key}) => key)).toEqual(['system:basic-user']);
  });
});
