import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {type KubeObject, parseGroupVersion} from '../object.ts';
import {normalize} from '../schema/decode.ts';
import type {Part} from './common/loose.ts';
import {applyDefaults} from './defaults.ts';

interface Observed {
  id: string;
  kind: string;
  apiVersion: string;
  given: Part;
  added: Record<string, Part>;
  changed?: Record<string, Part>;
  removed?: string[];
}

/** What the reference answered to a create, object by object. */
const observed: Observed[] = readFileSync(new URL('testdata/defaults.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

/** Parts of those answers that other rooms make: admission, strategies, allocators. By kind, as JSON pointers. */
const workOfOthers: Record<string, RegExp> = {
  '': /^\/metadata\/(generation|name|finalizers)$/,
  Pod: /^\/spec\/(tolerations|priority|preemptionPolicy|serviceAccount|serviceAccountName|volumes(\/\d+)?|(initContainers|containers)\/\d+\/volumeMounts(\/\d+)?)$|^\/status\/(phase|qosClass)$/,
  Secret: /^\/(data(\/.*)?|stringData)$/,
  Service: /^\/spec\/(clusterIPs?|ipFamilies|ipFamilyPolicy|healthCheckNodePort|ports\/\d+\/nodePort)$/,
  Namespace: /^\/spec\/finalizers$/,
  Node: /^\/spec\/taints(\/\d+)?$/,
  PersistentVolume: /^\/status\/lastPhaseTransitionTime$/,
  PersistentVolumeClaim: /^\/spec\/dataSourceRef$/,
  DaemonSet: /^\/metadata\/annotations\/deprecated.daemonset.template.generation$/,
  Job: /^\/(metadata\/labels|spec\/(selector|template\/metadata\/labels))$/,
  ClusterRole: /^\/rules$/,
  CertificateSigningRequest: /^\/spec\/(username|uid|groups)$/,
  SelfSubjectAccessReview: /^\/status/,
  SelfSubjectRulesReview: /^\/(status|spec\/namespace)/,
  SelfSubjectReview: /^\/status/,
  TokenReview: /^\/status/,
};

const gvkOf = ({apiVersion, kind}: {apiVersion: string; kind: string}) => ({...parseGroupVersion(apiVersion)!, kind});
const steps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function answered({given, added, changed = {}, removed = []}: Observed): Part {
  const object = structuredClone(given);
  const parent = (pointer: string): [Part, string] => {
    const keys = steps(pointer);
    const last = keys.pop()!;
    return [keys.reduce((value: Part, key) => value[key], object), last];
  };
  for (const [pointer, value] of Object.entries({...added, ...changed})) {
    const [target, key] = parent(pointer);
    target[key] = value;
  }
  for (const pointer of removed) {
    const [target, key] = parent(pointer);
    delete target[key];
  }
  return object;
}

function differences(have: Part, want: Part, pointer = ''): string[] {
  if (JSON.stringify(have) === JSON.stringify(want)) return [];
  const isBranch = (value: Part): boolean => typeof value === 'object' && value !== null;
  if (!isBranch(have) || !isBranch(want) || Array.isArray(have) !== Array.isArray(want)) return [pointer];
  const keys = new Set([...Object.keys(have), ...Object.keys(want)]);
  return [...keys].flatMap((key) => differences(have[key], want[key], `${pointer}/${key}`));
}

const defaulted = (given: Part): KubeObject => {
  const object = normalize(structuredClone(given), gvkOf(given));
  applyDefaults(object);
  return object;
};

describe('what the reference adds', () => {
  test.each(observed.map((row) => [row.id, row] as const))('%s', (_id, row) => {
    const given = {kind: row.kind, apiVersion: row.apiVersion, ...row.given};
    const others = [workOfOthers['']!, workOfOthers[row.kind]].filter((pattern) => pattern !== undefined);
    const left = differences(defaulted(given), answered({...row, given}));
    expect(left.filter((pointer) => !others.some((pattern) => pattern.test(pointer)))).toEqual([]);
  });

  test('a second time nothing changes, and what was added is in normal form already', () => {
    for (const row of observed) {
      const once = defaulted({kind: row.kind, apiVersion: row.apiVersion, ...row.given});
      const twice = structuredClone(once);
      applyDefaults(twice);
      expect(twice).toEqual(once);
      expect(differences(normalize(structuredClone(once), gvkOf(once)), once)).toEqual([]);
    }
  });
});

const pod = (spec: Part): Part => defaulted({apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p'}, spec}).spec;

describe('pods', () => {
  test.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.27', 'IfNotPresent'],
    ['example.com:5000/nginx', 'Always'],
    ['example.com:5000/team/nginx:1', 'IfNotPresent'],
    [`nginx@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
    [`nginx:latest@sha256:${'a'.repeat(64)}`, 'Always'],
    ['Nginx', 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ])('the image %j is pulled %s', (image, policy) => {
    expect(pod({containers: [{name: 'c', image}]}).containers[0].imagePullPolicy).toBe(policy);
  });

  test('what is limited is requested, unless another request is made', () => {
    const {resources} = pod({containers: [{name: 'c', resources: {limits: {cpu: '2', memory: '1Gi'}, requests: {cpu: '1'}}}]})
      .containers[0];
    expect(resources.requests).toEqual({cpu: '1', memory: '1Gi'});
  });

  test('amounts are rounded up to thousandths', () => {
    const {resources} = pod({containers: [{name: 'c', resources: {requests: {cpu: '100u', memory: '1500u'}}}]}).containers[0];
    expect(resources.requests).toEqual({cpu: '1m', memory: '2m'});
  });

  test('a pod that limits itself as a whole requests what its containers do, and what is left over', () => {
    const {resources} = pod({
      resources: {limits: {cpu: '4', memory: '8Gi'}},
      containers: [
        {name: 'a', resources: {requests: {cpu: '500m'}}},
        {name: 'b', resources: {requests: {cpu: '1'}}},
      ],
      initContainers: [{name: 'i', resources: {requests: {cpu: '2'}}}],
    });
    expect(resources.requests).toEqual({cpu: '2', memory: '8Gi'});
  });

  test('on the network of the host, ports are ports of the host', () => {
    expect(pod({hostNetwork: true, containers: [{name: 'c', ports: [{containerPort: 80}]}]}).containers[0].ports[0].hostPort).toBe(80);
  });
});

test('a taint of a device gets the time at which it was seen first', () => {
  const slice = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: {name: 's'},
    spec: {driver: 'd', pool: {name: 'p'}, devices: [{name: 'd', taints: [{key: 'k', effect: 'NoSchedule'}]}]},
  };
  const object = normalize(slice, gvkOf(slice));
  applyDefaults(object, Date.UTC(2026, 0, 2, 3, 4, 5));
  expect(object.spec.devices[0].taints[0].timeAdded).toBe('2026-01-02T03:04:05Z');
});

test('a custom kind has no defaults of ours', () => {
  const object: KubeObject = {kind: 'Widget', apiVersion: 'example.com/v1', metadata: {name: 'w'}, spec: {size: 1}};
  applyDefaults(object);
  expect(object.spec).toEqual({size: 1});
});
