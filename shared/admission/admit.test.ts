import {describe, expect, test} from 'vitest';
import type {StatusError} from '../errors.ts';
import type {JsonObject, KubeObject} from '../object.ts';
import {type AdmissionAttributes, admit, type Lookups} from './admit.ts';
import {resource} from './testing.ts';

const pods = resource('Pod', 'pods');
const named = (kind: string, name: string, rest: JsonObject = {}): KubeObject => ({kind, apiVersion: 'v1', metadata: {name}, ...rest});

const lookups = (answers: Partial<Lookups> = {}): Lookups => ({
  namespace: (name) => named('Namespace', name, {status: {phase: 'Active'}}),
  serviceAccount: (_namespace, name) => (name === 'default' ? named('ServiceAccount', name) : undefined),
  limitRanges: () => [],
  priorityClasses: () => [named('PriorityClass', 'system-node-critical', {value: 2000001000, preemptionPolicy: 'PreemptLowerPriority'})],
  storageClasses: () => [],
  ingressClasses: () => [],
  runtimeClass: () => undefined,
  node: () => undefined,
  pod: () => undefined,
  deviceClasses: () => [],
  resourceClaims: () => [],
  allowed: () => false,
  ...answers,
});

const attributes = (object: KubeObject | undefined, more: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  resource: pods,
  subresource: '',
  namespace: 'n',
  name: object?.metadata.name ?? '',
  ...(object && {object}),
  user: {name: 'alice', groups: []},
  dryRun: false,
  now: 0,
  ...more,
});

const pod = (spec: JsonObject = {}): KubeObject => named('Pod', 'p', {spec: {containers: [{name: 'c', image: 'i'}], ...spec}});

async function refusal(promise: Promise<unknown>): Promise<StatusError> {
  return promise.then(
    () => expect.fail('admitted'),
    (error: StatusError) => error,
  );
}

const run = async (given: AdmissionAttributes, answers?: Partial<Lookups>): Promise<KubeObject> => {
  await admit(given, lookups(answers), 'mutate');
  await admit(given, lookups(answers), 'validate');
  return given.object!;
};

describe('namespaces', () => {
  test('nothing is made where there is none', async () => {
    const error = await refusal(run(attributes(pod()), {namespace: () => undefined}));
    expect(error.status).toMatchObject({code: 404, message: 'namespaces "n" not found'});
  });
  test('nothing is made in one that goes', async () => {
    const error = await refusal(run(attributes(pod()), {namespace: (name) => named('Namespace', name, {status: {phase: 'Terminating'}})}));
    expect(error.status.message).toBe('pods "p" is forbidden: unable to create new content in namespace n because it is being terminated');
    expect(error.status.details?.causes).toEqual([
      {reason: 'NamespaceTerminating', message: 'namespace n is being terminated', field: 'metadata.namespace'},
    ]);
  });
  test('some stay for ever', async () => {
    const error = await refusal(
      run(
        attributes(undefined, {
          operation: 'DELETE',
          resource: resource('Namespace', 'namespaces', '', false),
          name: 'default',
          namespace: '',
        }),
      ),
    );
    expect(error.status.message).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
  });
});

describe('pods', () => {
  test('get an account, its token, a priority and time to leave', async () => {
    const {spec} = await run(attributes(pod()));
    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    });
    expect(spec.volumes[0].name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(spec.containers[0].volumeMounts).toEqual([
      {name: spec.volumes[0].name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount'},
    ]);
    expect(spec.tolerations).toHaveLength(2);
  });
  test('with an unknown account are refused', async () => {
    const error = await refusal(run(attributes(pod({serviceAccountName: 'nobody'}))));
    expect(error.status.message).toBe(
      'pods "p" is forbidden: error looking up service account n/nobody: serviceaccount "nobody" not found',
    );
  });
  test('cannot name a priority of their own', async () => {
    const error = await refusal(run(attributes(pod({priorityClassName: 'system-node-critical', priority: 5}))));
    expect(error.status.message).toBe(
      'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 2000001000 from the given PriorityClass name',
    );
  });
  test('need a runtime that there is', async () => {
    const error = await refusal(run(attributes(pod({runtimeClassName: 'nope'}))));
    expect(error.status.message).toBe('pods "p" is forbidden: pod rejected: RuntimeClass "nope" not found');
  });
});

describe('limits', () => {
  const range = named('LimitRange', 'l', {
    spec: {limits: [{type: 'Container', max: {cpu: '1'}, default: {cpu: '500m'}, defaultRequest: {cpu: '100m'}}]},
  });
  test('fill what a container leaves out, and say so', async () => {
    const object = await run(attributes(pod()), {limitRanges: () => [range]});
    expect(object.spec.containers[0].resources).toEqual({requests: {cpu: '100m'}, limits: {cpu: '500m'}});
    expect(object.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
    });
  });
  test('refuse what is too much', async () => {
    const big = pod({containers: [{name: 'c', image: 'i', resources: {limits: {cpu: '3'}}}]});
    const error = await refusal(run(attributes(big), {limitRanges: () => [range]}));
    expect(error.status.message).toBe('pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 3');
  });
});

describe('pod security', () => {
  const level = (labels: Record<string, string>): Partial<Lookups> => ({
    namespace: (name) => ({kind: 'Namespace', apiVersion: 'v1', metadata: {name, labels}, status: {phase: 'Active'}}),
  });
  test('restricted wants four things said', async () => {
    const error = await refusal(run(attributes(pod()), level({'pod-security.kubernetes.io/enforce': 'restricted'})));
    expect(error.status.message).toBe(
      'pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
  });
  test('baseline keeps pods out of the host', async () => {
    const spec = {hostNetwork: true, containers: [{name: 'c', image: 'i', securityContext: {windowsOptions: {hostProcess: true}}}]};
    const error = await refusal(run(attributes(pod(spec)), level({'pod-security.kubernetes.io/enforce': 'baseline'})));
    expect(error.status.message).toBe(
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostProcess (container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    );
  });
  test('warn only warns', async () => {
    const warnings: string[] = [];
    await run(attributes(pod(), {warn: (text) => warnings.push(text)}), level({'pod-security.kubernetes.io/warn': 'restricted'}));
    expect(warnings[0]).toMatch(/^would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false/);
  });
  test('a level that nobody knows is no label', async () => {
    const namespaces = resource('Namespace', 'namespaces', '', false);
    const object: KubeObject = {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {name: 'x', labels: {'pod-security.kubernetes.io/enforce': 'nope'}},
    };
    const error = await refusal(run(attributes(object, {resource: namespaces, namespace: ''})));
    expect(error.status.message).toBe(
      'Namespace "x" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "nope": must be one of privileged, baseline, restricted',
    );
  });
});

test('volumes and claims are held, and claims get the newest default class', async () => {
  const claims = resource('PersistentVolumeClaim', 'persistentvolumeclaims');
  const annotated = (name: string, created: string): KubeObject => ({
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata: {name, creationTimestamp: created, annotations: {'storageclass.kubernetes.io/is-default-class': 'true'}},
  });
  const object = await run(attributes(named('PersistentVolumeClaim', 'c', {spec: {}}), {resource: claims}), {
    storageClasses: () => [annotated('old', '2020-01-01T00:00:00Z'), annotated('new', '2026-01-01T00:00:00Z')],
  });
  expect(object.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  expect(object.spec.storageClassName).toBe('new');
});

test('approving needs a right over the signer', async () => {
  const requests = resource('CertificateSigningRequest', 'certificatesigningrequests', 'certificates.k8s.io', false);
  const old = named('CertificateSigningRequest', 'r', {spec: {signerName: 'example.com/s'}});
  const asked: string[] = [];
  const given = attributes(structuredClone(old), {resource: requests, operation: 'UPDATE', subresource: 'approval', old, namespace: ''});
  const error = await refusal(run(given, {allowed: ({name}) => Boolean(asked.push(name)) && false}));
  expect(error.status.message).toBe(
    'certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to approve requests with signerName "example.com/s"',
  );
  expect(asked).toEqual(['example.com/s', 'example.com/*']);
});
