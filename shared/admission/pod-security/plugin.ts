/** Levels of security by the labels of a namespace: `enforce` refuses pods, `warn` warns, for pods and for what makes them. */
import {type FieldError, invalid, invalidObject} from '../../field-errors.ts';
import {sameJson} from '../../kinds/common/equal.ts';
import {list, type Part} from '../../kinds/common/loose.ts';
import type {KubeObject} from '../../object.ts';
import {type AdmissionAttributes, type Plugin, refuse} from '../attributes.ts';
import {checks} from './checks.ts';

const prefix = 'pod-security.kubernetes.io/';
const levels = ['privileged', 'baseline', 'restricted'] as const;
type Level = (typeof levels)[number];

interface Policy {
  level: Level;
  version: string;
}

export const podSecurity: Plugin = {
  name: 'PodSecurity',
  operations: ['CREATE', 'UPDATE'],
  resources: [
    'namespaces',
    'pods',
    'podtemplates',
    'replicationcontrollers',
    'deployments.apps',
    'replicasets.apps',
    'daemonsets.apps',
    'statefulsets.apps',
    'jobs.batch',
    'cronjobs.batch',
  ],
  subresources: ['ephemeralcontainers', 'resize'],
  async validate(attributes, lookups) {
    const {object, old} = attributes;
    if (!object) return;
    if (object.kind === 'Namespace') return validateLabels(attributes, object, old);
    const isPod = object.kind === 'Pod';
    const spec = podSpecOf(object);
    if (!spec || (isPod && old && !isSignificant(spec, podSpecOf(old)))) return;
    const labels = (await lookups.namespace(attributes.namespace))?.metadata.labels ?? {};
    if (isPod) {
      const enforced = policyFor(labels, 'enforce');
      const problem = violations(spec, enforced);
      if (problem) throw refuse(attributes, `violates PodSecurity ${name(enforced)}: ${problem}`);
    }
    const warned = policyFor(labels, 'warn');
    const problem = violations(spec, warned);
    if (problem) attributes.warn?.(`would violate PodSecurity ${name(warned)}: ${problem}`);
  },
};

const name = ({level, version}: Policy): string => `"${level}:${version}"`;

/** A label that cannot be read counts as the strictest: refused when it was set, it can only be an old one. */
function policyFor(labels: Record<string, string>, mode: string): Policy {
  const level = labels[`${prefix}${mode}`];
  const known = levels.find((candidate) => candidate === level);
  return {level: level === undefined ? 'privileged' : (known ?? 'restricted'), version: labels[`${prefix}${mode}-version`] ?? 'latest'};
}

function violations(spec: Part, {level}: Policy): string {
  if (level === 'privileged') return '';
  return checks[level]
    .flatMap((check) => check(spec) ?? [])
    .map(({reason, detail}) => `${reason} (${detail})`)
    .join(', ');
}

function podSpecOf({kind, spec, template}: KubeObject): Part {
  if (kind === 'Pod') return spec ?? {};
  if (kind === 'PodTemplate') return template?.spec;
  if (kind === 'CronJob') return spec?.jobTemplate?.spec?.template?.spec;
  return spec?.template?.spec;
}

/** Most of a pod cannot change anyway: only new images and new containers are looked at again. */
function isSignificant(spec: Part, old: Part): boolean {
  const images = (from: Part, field: string): Part[] => list(from?.[field]).map((container) => [container.name, container.image]);
  return ['containers', 'initContainers', 'ephemeralContainers'].some((field) => !sameJson(images(spec, field), images(old, field)));
}

function labelErrors(labels: Record<string, string> = {}): FieldError[] {
  return ['enforce', 'audit', 'warn'].flatMap((mode) => {
    const [level, version] = [labels[`${prefix}${mode}`], labels[`${prefix}${mode}-version`]];
    return [
      ...(level === undefined || levels.includes(level as Level)
        ? []
        : [invalid(`metadata.labels[${prefix}${mode}]`, level, `must be one of ${levels.join(', ')}`)]),
      ...(version === undefined || version === 'latest' || /^v1\.(0|[1-9]\d*)$/.test(version)
        ? []
        : [invalid(`metadata.labels[${prefix}${mode}-version]`, version, 'must be "latest" or "v1.x"')]),
    ];
  });
}

function validateLabels({operation, subresource}: AdmissionAttributes, object: KubeObject, old?: KubeObject): void {
  if (subresource !== '') return;
  const errors = labelErrors(object.metadata.labels);
  const known = operation === 'UPDATE' ? labelErrors(old?.metadata.labels) : [];
  if (errors.length && !sameJson(errors, known)) throw invalidObject({group: '', kind: 'Namespace'}, object.metadata.name ?? '', errors);
}
