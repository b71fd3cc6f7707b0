import {describe, expect, test} from 'vitest';
import type {StatusError} from '../../errors.ts';
import type {JsonObject, KubeObject} from '../../object.ts';
import type {Resource} from '../../registry/resource.ts';
import type {AdmissionAttributes} from '../attributes.ts';
import type {Lookups} from '../lookups.ts';
import {resource} from '../testing.ts';
import {resourceQuota} from './plugin.ts';

const pods = resource('Pod', 'pods');
const services = resource('Service', 'services');
const volumeClaims = resource('PersistentVolumeClaim', 'persistentvolumeclaims');
const deviceClaims = resource('ResourceClaim', 'resourceclaims', 'resource.k8s.io');

type Amounts = Record<string, string>;
const zeros = (hard: Amounts): Amounts => Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
const quota = (name: string, hard: Amounts, used: Amounts = zeros(hard), spec: JsonObject = {}): KubeObject => ({
  kind: 'ResourceQuota',
  apiVersion: 'v1',
  metadata: {name, namespace: 'n'},
  spec,
  status: {hard, used},
});
const named = (kind: string, name: string, rest: JsonObject = {}): KubeObject => ({kind, apiVersion: 'v1', metadata: {name}, ...rest});
const pod = (spec: JsonObject = {}, status: JsonObject = {}): KubeObject =>
  named('Pod', 'p', {spec: {containers: [{name: 'c', image: 'i'}], ...spec}, status});
const asking = (requests: Amounts, limits: Amounts = {}, name = 'c'): JsonObject => ({name, image: 'i', resources: {requests, limits}});

interface Case {
  on?: Resource;
  more?: Partial<AdmissionAttributes>;
  lookups?: Partial<Lookups>;
}

/** What each quota is charged with, by its name, or the refusal. */
async function admit(
  quotas: KubeObject[],
  object: KubeObject,
  {on = pods, more = {}, lookups = {}}: Case = {},
): Promise<Record<string, Amounts> | string> {
  const charged: Record<string, Amounts> = {};
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    resource: on,
    subresource: '',
    namespace: 'n',
    name: object.metadata.name!,
    object,
    user: {name: 'alice', groups: []},
    dryRun: false,
    now: Date.parse('2026-01-01T00:00:00Z'),
    async charge(prepare) {
      for (const bill of (await prepare())(quotas)) charged[bill.quota.metadata.name!] = {...bill.used};
    },
    ...more,
  };
  const all = {deviceClasses: () => [], ...lookups} as Lookups;
  try {
    await resourceQuota.validate!(attributes, all);
    return charged;
  } catch (error) {
    return (error as StatusError).message;
  }
}

/** Of these names, what an object uses. */
const usage = async (names: string[], object: KubeObject, more: Case = {}): Promise<unknown> => {
  const charged = await admit([quota('q', Object.fromEntries(names.map((name) => [name, '1P'])))], object, more);
  return typeof charged === 'string' ? charged : (charged['q'] ?? {});
};

describe('too much', () => {
  test('is refused in the words of each resource that is over, and of no other', async () => {
    const hard = {pods: '2', 'requests.cpu': '1', 'limits.memory': '1Gi'};
    const given = quota('q1', hard, {pods: '0', 'requests.cpu': '500m', 'limits.memory': '0'});
    expect(await admit([given], pod({containers: [asking({cpu: '1.5'}, {memory: '1500M'})]}))).toBe(
      'pods "p" is forbidden: exceeded quota: q1, requested: limits.memory=1500M,requests.cpu=1500m, used: limits.memory=0,requests.cpu=500m, limited: limits.memory=1Gi,requests.cpu=1',
    );
  });
  test('one quota that is exceeded keeps the others from being charged', async () => {
    expect(await admit([quota('a', {pods: '5'}), quota('b', {pods: '1'}, {pods: '1'})], pod())).toContain('exceeded quota: b');
    expect(await admit([quota('a', {pods: '5'}), quota('b', {pods: '1'})], pod())).toEqual({a: {pods: '1'}, b: {pods: '1'}});
  });
  test('what was over before and is not asked for is no reason', async () => {
    const given = quota('q', {pods: '5', 'requests.memory': '1Gi'}, {pods: '1', 'requests.memory': '2Gi'});
    expect(await admit([given], pod({containers: [asking({memory: '0'})]}))).toEqual({q: {pods: '2', 'requests.memory': '2Gi'}});
  });
});

describe('a quota that cannot be applied', () => {
  test('its usage is not known yet', async () => {
    expect(await admit([quota('q', {pods: '2', 'count/pods': '3', secrets: '1'}, {})], pod())).toBe(
      'pods "p" is forbidden: status unknown for quota: q, resources: count/pods,pods',
    );
  });
  test('containers do not say what they need', async () => {
    const given = quota('q', {'requests.cpu': '1', 'limits.memory': '1Gi', 'requests.ephemeral-storage': '1'});
    const two = pod({containers: [{name: 'c', image: 'i'}, asking({cpu: '1'}, {}, 'b')]});
    expect(await admit([given], two)).toBe(
      'pods "p" is forbidden: failed quota: q: must specify limits.memory for: b,c; requests.cpu for: c',
    );
    expect(await admit([given], pod({resources: {requests: {cpu: '1'}}}))).toEqual({
      q: {'requests.cpu': '1', 'limits.memory': '0', 'requests.ephemeral-storage': '0'},
    });
  });
  test('without limits in its status it has no say', async () => {
    expect(await admit([quota('q', {}, {}, {hard: {pods: '0'}})], pod())).toEqual({});
  });
});

describe('what a pod uses', () => {
  const named = ['pods', 'count/pods', 'cpu', 'requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'];
  test('the sum of its containers, or its largest init container, and its overhead', async () => {
    const spec = {
      containers: [
        asking({cpu: '100m', memory: '1Gi'}, {cpu: '1', memory: '1Gi'}),
        asking({cpu: '200m', memory: '1Gi'}, {cpu: '1', memory: '1Gi'}, 'd'),
      ],
      initContainers: [asking({cpu: '2', memory: '1Mi'}, {cpu: '2', memory: '1Mi'}, 'i')],
      overhead: {cpu: '50m', memory: '1Mi'},
    };
    expect(await usage(named, pod(spec))).toEqual({
      pods: '1',
      'count/pods': '1',
      cpu: '2050m',
      'requests.cpu': '2050m',
      'limits.cpu': '2050m',
      'requests.memory': '2049Mi',
      'limits.memory': '2049Mi',
    });
  });
  test('what it asks for as a whole counts instead', async () => {
    const spec = {containers: [asking({cpu: '1'})], resources: {requests: {cpu: '3'}, limits: {cpu: '4'}}};
    expect(await usage(['requests.cpu', 'limits.cpu'], pod(spec))).toEqual({'requests.cpu': '3', 'limits.cpu': '4'});
  });
  test('huge pages and extended resources', async () => {
    const spec = {containers: [asking({'hugepages-2Mi': '4Mi', 'example.com/gpu': '2'}, {'hugepages-2Mi': '4Mi', 'example.com/gpu': '2'})]};
    expect(await usage(['hugepages-2Mi', 'requests.hugepages-2Mi', 'requests.example.com/gpu'], pod(spec))).toEqual({
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.example.com/gpu': '2',
    });
  });
  test('one that has ended is only there', async () => {
    expect(await usage(['pods', 'count/pods'], pod({}, {phase: 'Succeeded'}))).toEqual({pods: '0', 'count/pods': '1'});
    const late = pod();
    Object.assign(late.metadata, {deletionTimestamp: '2025-12-31T23:00:00Z', deletionGracePeriodSeconds: 30});
    expect(await usage(['pods', 'count/pods'], late)).toEqual({pods: '0', 'count/pods': '1'});
  });
  test('a resize pays for the growth only, and still holds what it was given', async () => {
    const resize = (from: string, to: string, status: JsonObject = {}): Promise<unknown> =>
      usage(['requests.cpu', 'pods'], pod({containers: [asking({cpu: to})]}, status), {
        more: {operation: 'UPDATE', subresource: 'resize', old: pod({containers: [asking({cpu: from})]}, status)},
      });
    expect(await resize('1', '3')).toEqual({'requests.cpu': '2', pods: '0'});
    expect(await resize('3', '1')).toEqual({});
    expect(await resize('1', '3', {containerStatuses: [{name: 'c', resources: {requests: {cpu: '2'}}}]})).toEqual({
      'requests.cpu': '1',
      pods: '0',
    });
  });
  test('an update counts when the pod comes into another scope', async () => {
    const given = quota('q', {pods: '5'}, undefined, {scopes: ['Terminating']});
    const update = {operation: 'UPDATE' as const, old: pod()};
    expect(await admit([given], pod({activeDeadlineSeconds: 5}), {more: update})).toEqual({q: {pods: '1'}});
    expect(await admit([given], pod({priority: 5}), {more: update})).toEqual({});
  });
});

describe('scopes', () => {
  const isFor = async (spec: JsonObject, object: KubeObject, on = pods): Promise<boolean> =>
    Object.keys(await admit([quota('q', {pods: '5', persistentvolumeclaims: '5', services: '5'}, undefined, spec)], object, {on})).length >
    0;
  const matching = (scopeName: string, operator: string, ...values: string[]): JsonObject => ({
    scopeSelector: {matchExpressions: [{scopeName, operator, values}]},
  });
  const across = {
    affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {namespaceSelector: {}}}]}},
  };
  test.each<[string, JsonObject, KubeObject, boolean]>([
    ['Terminating', {scopes: ['Terminating']}, pod({activeDeadlineSeconds: 0}), true],
    ['NotTerminating', {scopes: ['NotTerminating']}, pod({activeDeadlineSeconds: 0}), false],
    ['BestEffort', {scopes: ['BestEffort']}, pod(), true],
    ['all of several', {scopes: ['BestEffort', 'Terminating']}, pod(), false],
    ['NotBestEffort', {scopes: ['NotBestEffort']}, pod({containers: [asking({cpu: '1'})]}), true],
    ['any priority class', {scopes: ['PriorityClass']}, pod({priorityClassName: 'high'}), true],
    ['one of some', matching('PriorityClass', 'In', 'high', 'low'), pod({priorityClassName: 'high'}), true],
    ['none of some', matching('PriorityClass', 'NotIn', 'high'), pod(), true],
    ['no priority class', matching('PriorityClass', 'DoesNotExist'), pod({priorityClassName: 'high'}), false],
    ['pods of other namespaces', {scopes: ['CrossNamespacePodAffinity']}, pod(across), true],
    ['none of them', {scopes: ['CrossNamespacePodAffinity']}, pod(), false],
  ])('%s', async (_title, spec, object, expected) => {
    expect(await isFor(spec, object)).toBe(expected);
  });
  test('a claim has those of its classes of attributes, old and new', async () => {
    const claim = named('PersistentVolumeClaim', 'c', {
      spec: {volumeAttributesClassName: 'gold'},
      status: {currentVolumeAttributesClassName: 'silver'},
    });
    const given = (operator: string, ...values: string[]) =>
      isFor(matching('VolumeAttributesClass', operator, ...values), claim, volumeClaims);
    expect(await Promise.all([given('In', 'silver'), given('In', 'gold'), given('In', 'tin'), given('Exists')])).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
  test('other types have none', async () => {
    expect(await isFor({scopes: ['BestEffort']}, named('Service', 's'), services)).toBe(false);
    expect(await isFor({}, named('Service', 's'), services)).toBe(true);
  });
});

describe('what else is used', () => {
  const ports: JsonObject[] = [{port: 1}, {port: 2, nodePort: 30000}];
  test.each([
    ['ClusterIP', {type: 'ClusterIP'}, '0', '0'],
    ['NodePort', {type: 'NodePort'}, '2', '0'],
    ['LoadBalancer', {type: 'LoadBalancer'}, '2', '1'],
    ['LoadBalancer without ports on nodes', {type: 'LoadBalancer', allocateLoadBalancerNodePorts: false}, '1', '1'],
  ])('a service of type %s', async (_title, spec, nodePorts, balancers) => {
    const names = ['services', 'count/services', 'services.nodeports', 'services.loadbalancers'];
    expect(await usage(names, named('Service', 's', {spec: {...spec, ports}}), {on: services})).toEqual({
      services: '1',
      'count/services': '1',
      'services.nodeports': nodePorts,
      'services.loadbalancers': balancers,
    });
  });
  test('a service that becomes another type pays for what is new', async () => {
    const more = {operation: 'UPDATE' as const, old: named('Service', 's', {spec: {type: 'ClusterIP', ports}})};
    expect(
      await usage(['services', 'services.nodeports'], named('Service', 's', {spec: {type: 'NodePort', ports}}), {on: services, more}),
    ).toEqual({
      services: '0',
      'services.nodeports': '2',
    });
  });
  test('a volume claim, in whole bytes, for itself and its class', async () => {
    const claim = named('PersistentVolumeClaim', 'c', {spec: {storageClassName: 'gold', resources: {requests: {storage: '1500m'}}}});
    const gold = 'gold.storageclass.storage.k8s.io';
    const names = [
      'requests.storage',
      'persistentvolumeclaims',
      `${gold}/requests.storage`,
      `${gold}/persistentvolumeclaims`,
      'tin.storageclass.storage.k8s.io/requests.storage',
    ];
    expect(await usage(names, claim, {on: volumeClaims})).toEqual({
      'requests.storage': '2',
      persistentvolumeclaims: '1',
      [`${gold}/requests.storage`]: '2',
      [`${gold}/persistentvolumeclaims`]: '1',
      'tin.storageclass.storage.k8s.io/requests.storage': '0',
    });
  });
  test('what a status tells is charged, never refused', async () => {
    const old = named('PersistentVolumeClaim', 'c', {spec: {resources: {requests: {storage: '1Gi'}}}});
    const grown = {...old, status: {allocatedResources: {storage: '3Gi'}}};
    const more = {operation: 'UPDATE' as const, subresource: 'status', old};
    expect(await admit([quota('q', {'requests.storage': '2Gi'}, {'requests.storage': '1Gi'})], grown, {on: volumeClaims, more})).toEqual({
      q: {'requests.storage': '3Gi'},
    });
  });
  test('devices of a claim, by class at their worst, and as the resource that the class goes by', async () => {
    const request = (deviceClassName: string, count: number) => ({deviceClassName, allocationMode: 'ExactCount', count});
    const requests: JsonObject[] = [
      {name: 'a', exactly: request('gpu', 2)},
      {name: 'b', firstAvailable: [request('gpu', 4), request('fpga', 1), request('gpu', 3)]},
      {name: 'c', exactly: {deviceClassName: 'nic', allocationMode: 'All'}},
    ];
    const claim = named('ResourceClaim', 'c', {spec: {devices: {requests}}});
    const deviceClasses = () => [named('DeviceClass', 'gpu', {spec: {extendedResourceName: 'example.com/gpu'}})];
    const names = ['gpu', 'fpga', 'nic'].map((name) => `${name}.deviceclass.resource.k8s.io/devices`);
    const more = {on: deviceClaims, lookups: {deviceClasses}};
    expect(await usage([...names, 'requests.example.com/gpu', 'requests.example.com/other'], claim, more)).toEqual({
      [names[0]!]: '6',
      [names[1]!]: '1',
      [names[2]!]: '32',
      'requests.example.com/gpu': '6',
      'requests.example.com/other': '0',
    });
  });
  test('devices that its pod has paid for already', async () => {
    const claim = named('ResourceClaim', 'c', {
      spec: {devices: {requests: [{exactly: {deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3}}]}},
    });
    Object.assign(claim.metadata, {
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: {'resource.kubernetes.io/extended-resource-claim': 'true'},
      ownerReferences: [{apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true}],
    });
    const owner = pod({containers: [asking({'example.com/gpu': '2'})]});
    owner.metadata.uid = 'u';
    const lookups = {
      deviceClasses: () => [named('DeviceClass', 'gpu', {spec: {extendedResourceName: 'example.com/gpu'}})],
      pod: () => owner,
      resourceClaims: () => [claim],
    };
    expect(await usage(['requests.example.com/gpu'], claim, {on: deviceClaims, lookups})).toEqual({'requests.example.com/gpu': '1'});
    owner.metadata.uid = 'another';
    expect(await usage(['requests.example.com/gpu'], claim, {on: deviceClaims, lookups})).toEqual({'requests.example.com/gpu': '3'});
  });
  test('the number of any type; a few also by their old names', async () => {
    const deployments = resource('Deployment', 'deployments', 'apps');
    expect(await usage(['count/deployments.apps'], named('Deployment', 'd'), {on: deployments})).toEqual({'count/deployments.apps': '1'});
    const secrets = resource('Secret', 'secrets');
    expect(await usage(['secrets', 'count/secrets'], named('Secret', 's'), {on: secrets})).toEqual({secrets: '1', 'count/secrets': '1'});
    expect(await usage(['count/events'], named('Event', 'e'), {on: resource('Event', 'events')})).toEqual({});
  });
});
