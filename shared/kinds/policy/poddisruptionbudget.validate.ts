/** Whether a disruption budget is well formed: one bound, in numbers or percent. */
import {type FieldError, invalid, notSupported} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative} from '../common/checks.ts';
import {validateConditions} from '../common/conditions.ts';
import {validateLabelSelector} from '../common/labels.ts';
import type {Part} from '../common/loose.ts';
import {atMostAll, intOrPercent} from '../common/workload.ts';

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

export const validatePodDisruptionBudget = (object: KubeObject): FieldError[] => validate(object);

function validate({spec: given}: KubeObject, lenientValues = false): FieldError[] {
  const spec = given ?? {};
  const errors: FieldError[] = [];
  const bounds = ['minAvailable', 'maxUnavailable'].filter((bound) => spec[bound] !== undefined);
  if (bounds.length > 1) errors.push(invalid('spec', shown(spec), 'minAvailable and maxUnavailable cannot be both set'));
  for (const bound of bounds) errors.push(...intOrPercent(spec[bound], `spec.${bound}`), ...atMostAll(spec[bound], `spec.${bound}`));
  errors.push(...validateLabelSelector(spec.selector, 'spec.selector', {lenientValues}));
  const policy = spec.unhealthyPodEvictionPolicy;
  if (policy !== undefined && !evictionPolicies.includes(policy))
    errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, evictionPolicies));
  return errors;
}

const counted = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

export function validatePodDisruptionBudgetUpdate(object: KubeObject, old: KubeObject, subresource = ''): FieldError[] {
  if (subresource === 'status')
    return [
      ...validateConditions(object.status?.conditions, 'status.conditions'),
      ...counted.flatMap((field) => nonNegative(object.status?.[field], `status.${field}`)),
    ];
  return validate(object, validateLabelSelector(old.spec?.selector, '').length > 0);
}

const shown = ({minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy}: Part) => ({
  MinAvailable: minAvailable ?? null,
  Selector: selector ?? null,
  MaxUnavailable: maxUnavailable ?? null,
  UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
});
