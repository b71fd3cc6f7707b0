/** Warnings about pods and their templates: what still works but should not be written so. Texts go into Warning headers. */
import {goQuote} from '../../field-errors.ts';
import type {KubeObject, ObjectMeta} from '../../object.ts';
import {ipWarnings} from './ip.ts';
import {entries, type Located, list, type Part} from './loose.ts';
import {labelKeyWarning, termWarnings} from './node-label-warnings.ts';
import {overlapWarnings} from './overlap-warnings.ts';
import {allContainers} from './pod-spec.ts';
import {isInteger, nanos} from './quantity.ts';

const annotations: Record<string, string> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};
const useSeccompField = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/';
const appArmor = 'container.apparmor.security.beta.kubernetes.io/';
const useAppArmorField = 'deprecated since v1.30; use the "appArmorProfile" field instead';

/** In the order in which the reference looks for them; the second name is the one in the text. */
const volumeTypes: readonly (readonly [field: string, words: string, shown?: string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

export const podWarnings = ({metadata, spec}: KubeObject): string[] => warningsFor(metadata, spec ?? {}, '');

/** `path` of the template: `spec.template`. */
export const templateWarnings = (template: Part, path: string): string[] =>
  template ? warningsFor(template.metadata ?? {}, template.spec ?? {}, `${path}.`) : [];

/** A claim counts whole bytes. */
export const claimWarnings = (spec: Part, path: string): string[] =>
  ['requests', 'limits'].flatMap((kind) => fractional(spec?.resources?.[kind]?.storage, `${path}.resources.${kind}[storage]`));

function fractional(value: unknown, path: string): string[] {
  if (value === undefined || isInteger(nanos(value))) return [];
  return [`${path}: fractional byte value ${goQuote(String(value))} is invalid, must be an integer`];
}

function warningsFor(meta: ObjectMeta, spec: Part, prefix: string): string[] {
  const at = (path: string): string => `${prefix}spec.${path}`;
  const containers = allContainers(spec, `${prefix}spec`);
  const isSet = (key: string): boolean => meta.annotations?.[key] !== undefined;
  const noted = (key: string): string => `${prefix}metadata.annotations[${key}]`;
  return [
    ...placement(spec, at),
    ...entries(annotations).flatMap(([key, words]) => (isSet(key) ? [`${noted(key)}: ${words}`] : [])),
    ...volumes(spec, at),
    ...overlapWarnings(list(spec.volumes)),
    ...duplicates(spec.hostAliases, 'ip', at('hostAliases')),
    ...duplicates(spec.imagePullSecrets, 'name', at('imagePullSecrets')),
    ...list(spec.imagePullSecrets).flatMap(({name}, index) =>
      name ? [] : [`${at(`imagePullSecrets[${index}].name`)}: invalid empty name ""`],
    ),
    ...['memory', 'ephemeral-storage'].flatMap((name) => fractional(spec.overhead?.[name], at(`overhead[${name}]`))),
    ...(isSet(seccompPod) && !spec.securityContext?.seccompProfile ? [`${noted(seccompPod)}: ${useSeccompField}`] : []),
    ...containers.flatMap(([path, container]) => [
      ...(isSet(seccompContainer + container.name) && !container.securityContext?.seccompProfile
        ? [`${noted(seccompContainer + container.name)}: ${useSeccompField}`]
        : []),
      ...(isSet(appArmor + container.name) && !hasAppArmor(meta, spec, container)
        ? [`${noted(appArmor + container.name)}: ${useAppArmorField}`]
        : []),
      ...containerWarnings(container, path),
    ]),
    ...ports(containers),
    ...(spec.terminationGracePeriodSeconds < 0
      ? [`${at('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...nullSelectors(spec, at),
    ...list(spec.dnsConfig?.nameservers).flatMap((server, index) => ipWarnings(at(`dnsConfig.nameservers[${index}]`), server)),
    ...list(spec.hostAliases).flatMap(({ip}, index) => ipWarnings(at(`hostAliases[${index}].ip`), ip ?? '')),
  ];
}

/** In a field of the container's own, or in the pod's with the same words. */
function hasAppArmor(meta: ObjectMeta, spec: Part, container: Part): boolean {
  if (container.securityContext?.appArmorProfile) return true;
  const profile = spec.securityContext?.appArmorProfile;
  const annotation = meta.annotations?.[appArmor + container.name];
  if (profile?.type === 'Localhost') return annotation === `localhost/${profile.localhostProfile}`;
  return (
    (profile?.type === 'Unconfined' && annotation === 'unconfined') ||
    (profile?.type === 'RuntimeDefault' && annotation === 'runtime/default')
  );
}

type At = (path: string) => string;
const must = 'requiredDuringSchedulingIgnoredDuringExecution';
const may = 'preferredDuringSchedulingIgnoredDuringExecution';
const matchesNothing = 'a null labelSelector results in matching no pod';

function placement(spec: Part, at: At): string[] {
  const node = spec.affinity?.nodeAffinity;
  return [
    ...entries(spec.nodeSelector).flatMap(([key]) => labelKeyWarning(key).map((words) => `${at(`nodeSelector[${key}]`)}: ${words}`)),
    ...list(node?.[must]?.nodeSelectorTerms).flatMap((term, index) =>
      termWarnings(term, at(`affinity.nodeAffinity.${must}.nodeSelectorTerms[${index}]`), false),
    ),
    ...list(node?.[may]).flatMap(({preference}, index) =>
      termWarnings(preference, at(`affinity.nodeAffinity.${may}[${index}].preference`), true),
    ),
    ...list(spec.topologySpreadConstraints).flatMap(({topologyKey = '', labelSelector}, index) => {
      const path = at(`topologySpreadConstraints[${index}]`);
      return [
        ...labelKeyWarning(topologyKey).map((words) => `${path}.topologyKey: ${topologyKey} is ${words}`),
        ...(labelSelector ? [] : [`${path}.labelSelector: ${matchesNothing}`]),
      ];
    }),
  ];
}

const volumes = (spec: Part, at: At): string[] =>
  list(spec.volumes).flatMap((volume, index) => [
    ...volumeTypes.flatMap(([field, words, shown]) => (volume[field] ? [`${at(`volumes[${index}].${shown ?? field}`)}: ${words}`] : [])),
    ...claimWarnings(volume.ephemeral?.volumeClaimTemplate?.spec, at(`volumes[${index}].ephemeral.volumeClaimTemplate.spec`)),
  ]);

function duplicates(items: Part, field: string, path: string): string[] {
  const seen = new Set<string>();
  return list(items).flatMap((item, index) => {
    const value: string = item[field] ?? '';
    if (seen.has(value)) return [`${path}[${index}].${field}: duplicate ${field} ${goQuote(value)}`];
    seen.add(value);
    return [];
  });
}

function containerWarnings({resources, env}: Part, path: string): string[] {
  const texts = ['memory', 'ephemeral-storage'].flatMap((name) =>
    ['limits', 'requests'].flatMap((kind) => fractional(resources?.[kind]?.[name], `${path}.resources.${kind}[${name}]`)),
  );
  const seen = new Set<string>();
  for (const [index, {name, value = '', valueFrom}] of list(env).entries()) {
    const reference = `$(${name})`;
    // One that is built upon the former definition needs it.
    const hides = valueFrom || value === reference || !value.includes(reference);
    if (seen.has(name) && hides)
      texts.push(`${path}.env[${index}]: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`);
    seen.add(name);
  }
  return texts;
}

function ports(containers: readonly Located[]): string[] {
  const texts: string[] = [];
  const all = containers.flatMap(([path, container]) =>
    list(container.ports).map((port, index): [string, Part] => [`${path}.ports[${index}]`, port]),
  );
  for (const [index, [path, port]] of all.entries()) {
    const {hostIP = '', hostPort = 0} = port;
    if (hostIP && !hostPort) texts.push(`${path}: hostIP set without hostPort: ${shownPort(port)}`);
    for (const [otherPath, other] of all.slice(0, index)) {
      if (other.containerPort !== port.containerPort || other.protocol !== port.protocol) continue;
      const [otherIp, otherPort] = [other.hostIP ?? '', other.hostPort ?? 0];
      if (hostIP === otherIp && hostPort === otherPort) texts.push(`${path}: duplicate port definition with ${otherPath}`);
      else if (!hostPort || !otherPort) texts.push(`${path}: overlapping port definition with ${otherPath}`);
      else if (hostPort === otherPort && (hostIP === '') !== (otherIp === ''))
        texts.push(`${path}: dangerously ambiguous port definition with ${otherPath}`);
    }
  }
  const names = new Map<string, string>();
  for (const [path, {name}] of all) {
    const other = name && names.get(name);
    if (other)
      texts.push(
        `${path}: duplicate port name ${goQuote(name)} with ${other}, services and probes that select ports by name will use ${other}`,
      );
    else if (name) names.set(name, path);
  }
  return texts;
}

/** As Go prints the struct. */
const shownPort = ({name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = ''}: Part): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

function nullSelectors({affinity}: Part, at: At): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((name) => [
    ...list(affinity?.[name]?.[must]).flatMap(({labelSelector}, index) =>
      labelSelector ? [] : [`${at(`affinity.${name}.${must}[${index}].labelSelector`)}: ${matchesNothing}`],
    ),
    ...list(affinity?.[name]?.[may]).flatMap(({podAffinityTerm}, index) =>
      podAffinityTerm?.labelSelector ? [] : [`${at(`affinity.${name}.${may}[${index}].podAffinityTerm.labelSelector`)}: ${matchesNothing}`],
    ),
  ]);
}
