/** Whether a stateful set is well formed; most of its spec stays as it was created. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label, nonNegative} from '../common/checks.ts';
import {claimSpec} from '../common/claims.ts';
import {sameJson} from '../common/equal.ts';
import {validateLabels} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {validateAnnotations} from '../common/metadata.ts';
import {podAnnotations} from '../common/pod-annotations.ts';
import {podTemplate} from '../common/pod-spec.ts';
import {collisions, counters} from '../common/status.ts';
import {alwaysRestarts, amountOf, atMostAll, intOrPercent, isReadable, mismatch, workloadSelector} from '../common/workload.ts';

const shownStrategy = ({type, rollingUpdate: rolling}: Part): Part => ({
  Type: type,
  RollingUpdate: rolling ? {Partition: rolling.partition ?? 0, MaxUnavailable: rolling.maxUnavailable ?? null} : null,
});

function updateStrategy(given: Part): FieldError[] {
  const path = 'spec.updateStrategy';
  const {type = '', rollingUpdate: rolling} = given ?? {};
  if (!type) return [required(path)];
  if (type === 'OnDelete')
    return rolling
      ? [invalid(`${path}.rollingUpdate`, shownStrategy(given).RollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")]
      : [];
  if (type !== 'RollingUpdate') return [invalid(path, shownStrategy(given), "must be 'RollingUpdate' or 'OnDelete'")];
  if (!rolling) return [];
  const at = `${path}.rollingUpdate.maxUnavailable`;
  const most = rolling.maxUnavailable;
  return [
    ...nonNegative(rolling.partition, `${path}.rollingUpdate.partition`),
    ...(most === undefined
      ? []
      : [...intOrPercent(most, at), ...(amountOf(most) === 0 ? [invalid(at, most, 'cannot be 0')] : []), ...atMostAll(most, at)]),
  ];
}

function retention(policy: Part): FieldError[] {
  if (!policy) return [];
  return ['whenDeleted', 'whenScaled'].flatMap((field) => {
    const value = policy[field] ?? '';
    const at = `spec.persistentVolumeClaimRetentionPolicy.${field}`;
    return value === 'Retain' || value === 'Delete' ? [] : [notSupported(at, value, ['Retain', 'Delete'])];
  });
}

/** Each claim template becomes a volume of the pods; their host names are made from the set's. */
function template(spec: Part, full: boolean): FieldError[] {
  const templates = list(spec.volumeClaimTemplates);
  const names = new Set(templates.map(({metadata}) => metadata?.name ?? ''));
  const given = spec.template?.spec ?? {};
  const {subdomain: _subdomain, hostname: _hostname, ...pod} = given;
  if (templates.length)
    pod.volumes = [
      ...[...names].map((name) => ({name, persistentVolumeClaim: {claimName: name}})),
      ...list(given.volumes).filter(({name}) => !names.has(name)),
    ];
  const path = 'spec.template';
  const meta = spec.template?.metadata ?? {};
  return [
    ...mismatch(spec),
    ...(full ? podTemplate({...spec.template, spec: pod}, path) : []),
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...podAnnotations(meta.annotations, given, `${path}.annotations`),
  ];
}

function validateSpec(spec: Part, isNew: boolean, fullTemplate = true): FieldError[] {
  const policy = spec.podManagementPolicy;
  const errors: FieldError[] = [];
  if (!policy) errors.push(required('spec.podManagementPolicy'));
  else if (policy !== 'OrderedReady' && policy !== 'Parallel')
    errors.push(invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  errors.push(...updateStrategy(spec.updateStrategy), ...retention(spec.persistentVolumeClaimRetentionPolicy));
  if (isNew)
    for (const [index, claim] of list(spec.volumeClaimTemplates).entries())
      errors.push(...claimSpec(claim.spec, `spec.volumeClaimTemplates[${index}].spec`));
  errors.push(
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...nonNegative(spec.ordinals?.start, 'spec.ordinals.start'),
  );
  if (isNew && spec.serviceName) errors.push(...label(spec.serviceName, 'spec.serviceName'));
  errors.push(...workloadSelector(spec, {kind: 'statefulset', unreadable: ''}));
  if (isReadable(spec.selector)) errors.push(...template(spec, fullTemplate));
  return [...errors, ...alwaysRestarts(spec, 'StatefulSet')];
}

export const validateStatefulSet = ({spec}: KubeObject): FieldError[] => validateSpec(spec ?? {}, true);

const changeable = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];
const counted = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
];

export function validateStatefulSetUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status')
    return [
      ...counters(
        object.status,
        counted,
        ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
        'cannot be greater than status.readyReplicas',
      ),
      ...collisions(object.status, old.status),
    ];
  const storedIsValid = validateSpec(old.spec ?? {}, false).length === 0;
  const errors = validateSpec(object.spec ?? {}, false, storedIsValid);
  const fixed = (spec: Part): Part => Object.fromEntries(Object.entries(spec ?? {}).filter(([field]) => !changeable.includes(field)));
  if (!sameJson(fixed(object.spec), fixed(old.spec)))
    errors.push(
      fieldForbidden(
        'spec',
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    );
  return errors;
}
