/** Whether a deployment is well formed. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative} from '../common/checks.ts';
import type {Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';
import {collisions, counters} from '../common/status.ts';
import {amountOf, atMostAll, intOrPercent, replicaTemplate, workloadSelector} from '../common/workload.ts';

function strategy(given: Part): FieldError[] {
  const path = 'spec.strategy';
  const {type = '', rollingUpdate: rolling} = given ?? {};
  if (type === 'Recreate')
    return rolling ? [fieldForbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")] : [];
  if (type !== 'RollingUpdate') {
    const shown = {
      Type: type,
      RollingUpdate: rolling ? {MaxUnavailable: rolling.maxUnavailable ?? 0, MaxSurge: rolling.maxSurge ?? 0} : null,
    };
    return [notSupported(path, shown, ['Recreate', 'RollingUpdate'])];
  }
  if (!rolling) return [required(`${path}.rollingUpdate`, 'this should be defaulted and never be nil')];
  const at = `${path}.rollingUpdate.maxUnavailable`;
  const {maxUnavailable = 0, maxSurge = 0} = rolling;
  return [
    ...intOrPercent(maxUnavailable, at),
    ...intOrPercent(maxSurge, `${path}.rollingUpdate.maxSurge`),
    ...(amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0
      ? [invalid(at, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...atMostAll(maxUnavailable, at),
  ];
}

export function validateDeployment({spec: given}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const errors = [
    ...nonNegative(spec.replicas, 'spec.replicas'),
    ...workloadSelector(spec, {kind: 'deployment', unreadable: 'invalid label selector'}),
    ...replicaTemplate(spec),
    ...strategy(spec.strategy),
    ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
  ];
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined) return errors;
  errors.push(...nonNegative(deadline, 'spec.progressDeadlineSeconds'));
  if (deadline <= (spec.minReadySeconds ?? 0))
    errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  return errors;
}

const counted = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
];

export const validateDeploymentUpdate = (object: KubeObject, old: KubeObject, subresource: string): FieldError[] =>
  subresource === 'status'
    ? [
        ...counters(object.status, counted, ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
        ...collisions(object.status, old.status),
      ]
    : [...validateDeployment(object), ...validateImmutable(object.spec?.selector, old.spec?.selector, 'spec.selector')];
