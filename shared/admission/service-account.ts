/** Every pod has an identity; unless it declines, its containers find a token for it. */

import {list, type Part} from '../kinds/common/loose.ts';
import type {KubeObject} from '../object.ts';
import {type AdmissionAttributes, type Plugin, refuse} from './attributes.ts';
import type {Lookups} from './lookups.ts';

const mirror = 'kubernetes.io/config.mirror';
const enforceSecrets = 'kubernetes.io/enforce-mountable-secrets';
const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';
/** An hour, and seven seconds by which clients recognize that they have not asked for it themselves. */
const tokenSeconds = 3607;

export const serviceAccount: Plugin = {
  name: 'ServiceAccount',
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  subresources: ['ephemeralcontainers'],
  async mutate(attributes, lookups) {
    const pod = attributes.object;
    if (attributes.operation !== 'CREATE' || attributes.subresource || !pod || isMirror(pod)) return;
    pod.spec ??= {};
    // The field has an older name, which goes along.
    if (!pod.spec.serviceAccountName) pod.spec.serviceAccountName = pod.spec.serviceAccount || 'default';
    pod.spec.serviceAccount = pod.spec.serviceAccountName;
    const account = await find(attributes, pod, lookups);
    if (pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(pod);
    const secrets = list(account.imagePullSecrets);
    if (!list(pod.spec.imagePullSecrets).length && secrets.length) pod.spec.imagePullSecrets = secrets.map(({name}) => ({name}));
  },
  async validate(attributes, lookups) {
    const pod = attributes.object;
    const isEphemeral = attributes.subresource === 'ephemeralcontainers';
    if (!pod || (attributes.operation !== 'CREATE' && !isEphemeral)) return;
    if (isMirror(pod) && !isEphemeral) return refuseIdentity(attributes, pod);
    const account = await find(attributes, pod, lookups);
    if (account.metadata.annotations?.[enforceSecrets] !== 'true') return;
    const problem = secretProblem(pod, account, isEphemeral ? ['ephemeralContainers'] : ['initContainers', 'containers']);
    if (problem) throw refuse(attributes, problem);
  },
};

const isMirror = (pod: KubeObject): boolean => pod.metadata.annotations?.[mirror] !== undefined;

async function find(attributes: AdmissionAttributes, pod: KubeObject, lookups: Lookups): Promise<KubeObject> {
  const {namespace} = attributes;
  const name: string = pod.spec.serviceAccountName ?? '';
  if (!name) throw refuse(attributes, `no service account specified for pod ${namespace}/${pod.metadata.name}`);
  const account = await lookups.serviceAccount(namespace, name);
  if (!account) throw refuse(attributes, `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`);
  return account;
}

/** The token, the CA to trust, and the namespace, where clients look for them. */
function mountToken({spec}: KubeObject): void {
  const present = list(spec.volumes).find(({name}) => name?.startsWith(volumePrefix));
  const name: string = present?.name ?? `${volumePrefix}${suffix()}`;
  let needed = false;
  for (const field of ['initContainers', 'containers'])
    for (const container of list(spec[field])) {
      if (list(container.volumeMounts).some(({mountPath}) => mountPath === tokenPath)) continue;
      container.volumeMounts = [...list(container.volumeMounts), {name, readOnly: true, mountPath: tokenPath}];
      needed = true;
    }
  if (present || !needed) return;
  spec.volumes = [...list(spec.volumes), {name, projected: {sources: tokenSources(), defaultMode: 0o644}}];
}

const tokenSources = (): Part[] => [
  {serviceAccountToken: {expirationSeconds: tokenSeconds, path: 'token'}},
  {configMap: {name: 'kube-root-ca.crt', items: [{key: 'ca.crt', path: 'ca.crt'}]}},
  {downwardAPI: {items: [{path: 'namespace', fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.namespace'}}]}},
];

const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffix = (): string => Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => letters[byte % letters.length]).join('');

/** A mirror of a node's own pod must not lend it an identity. */
function refuseIdentity(attributes: AdmissionAttributes, pod: KubeObject): void {
  if (pod.spec?.serviceAccountName) throw refuse(attributes, 'a mirror pod may not reference service accounts');
  if (secretNames(pod).length) throw refuse(attributes, 'a mirror pod may not reference secrets');
  const projections = list(pod.spec?.volumes).flatMap(({projected}) => list(projected?.sources));
  if (projections.some(({serviceAccountToken}) => serviceAccountToken))
    throw refuse(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}

function secretNames({spec}: KubeObject): string[] {
  const containers = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => list(spec?.[field]));
  return [
    ...list(spec?.imagePullSecrets).map(({name}) => name),
    ...containers.flatMap(({env, envFrom}) => [
      ...list(env).map(({valueFrom}) => valueFrom?.secretKeyRef?.name),
      ...list(envFrom).map(({secretRef}) => secretRef?.name),
    ]),
    ...list(spec?.volumes).flatMap(({secret, projected, csi}) => [
      secret?.secretName,
      csi?.nodePublishSecretRef?.name,
      ...list(projected?.sources).map((source) => source.secret?.name),
    ]),
  ].filter((name) => name !== undefined);
}

const sorts: Record<string, string> = {
  initContainers: 'init container',
  containers: 'container',
  ephemeralContainers: 'ephemeral container',
};

function secretProblem({spec}: KubeObject, account: KubeObject, fields: string[]): string | undefined {
  const mountable = new Set(list(account.secrets).map(({name}) => name));
  const owner = `is not allowed because service account ${account.metadata.name} does not reference that`;
  const inVolumes = fields.includes('containers') ? list(spec.volumes).map(({secret}) => secret?.secretName) : [];
  for (const name of inVolumes) if (name && !mountable.has(name)) return `volume with secret.secretName="${name}" ${owner} secret`;
  for (const field of fields)
    for (const container of list(spec[field])) {
      const who = `${sorts[field]} ${container.name}`;
      for (const {name, valueFrom} of list(container.env)) {
        const secret = valueFrom?.secretKeyRef?.name;
        if (secret && !mountable.has(secret)) return `${who} with envVar ${name} referencing secret.secretName="${secret}" ${owner} secret`;
      }
      for (const {secretRef} of list(container.envFrom))
        if (secretRef && !mountable.has(secretRef.name))
          return `${who} with envFrom referencing secret.secretName="${secretRef.name}" ${owner} secret`;
    }
  if (!fields.includes('containers')) return undefined;
  const pullable = new Set(list(account.imagePullSecrets).map(({name}) => name));
  for (const [index, {name}] of list(spec.imagePullSecrets).entries())
    if (!pullable.has(name)) return `imagePullSecrets[${index}].name="${name}" ${owner} imagePullSecret`;
  return undefined;
}
