/** Whether an autoscaler is well formed, in its autoscaling/v2 form: bounds, what is scaled, metrics (metrics.validate.ts) and behaviour. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative} from '../common/checks.ts';
import {list, type Part} from '../common/loose.ts';
import {notNegative} from '../common/names.ts';
import {nanos} from '../common/quantity.ts';
import {hasVersionProblem, type VersionRules, validateMetric, versionedReference} from './metrics.validate.ts';

const maxPeriodSeconds = 1800;
const maxStabilizationSeconds = 3600;
const selectPolicies = ['Disabled', 'Max', 'Min'];
const policyTypes = ['Percent', 'Pods'];

export const validateHorizontalPodAutoscaler = (object: KubeObject): FieldError[] => validate(object);

function validate({spec: given}: KubeObject, old?: KubeObject): FieldError[] {
  const spec = given ?? {};
  const {minReplicas, maxReplicas = 0, scaleTargetRef: target = {}} = spec;
  const metrics = list(spec.metrics);
  const errors: FieldError[] = [];
  const least = old?.spec?.minReplicas === 0 ? 0 : 1;
  if (minReplicas < least) errors.push(invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${least}`));
  if (maxReplicas === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  else if (maxReplicas < 0) errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < minReplicas) errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  errors.push(...versionedReference(target, 'spec.scaleTargetRef', targetRules(target, old)));
  const rules = metricRules(old);
  for (const [index, metric] of metrics.entries()) errors.push(...validateMetric(metric, `spec.metrics[${index}]`, rules));
  if (minReplicas === 0 && !metrics.some(({type}) => type === 'Object' || type === 'External'))
    errors.push(fieldForbidden('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'));
  for (const direction of ['scaleUp', 'scaleDown'])
    if (spec.behavior?.[direction]) errors.push(...validateScaling(spec.behavior[direction], `spec.behavior.${direction}`));
  return errors;
}

export function validateHorizontalPodAutoscalerUpdate(object: KubeObject, old: KubeObject, subresource = ''): FieldError[] {
  if (subresource !== 'status') return validate(object, old);
  return ['currentReplicas', 'desiredReplicas'].flatMap((field) => nonNegative(object.status?.[field], `status.${field}`));
}

/** What was stored with a version that is no good may stay; replication controllers have no group. */
function targetRules(target: Part, old: KubeObject | undefined): VersionRules {
  const before = old?.spec?.scaleTargetRef;
  if (old && before?.apiVersion === target.apiVersion && before?.kind === target.kind) return {any: true};
  return {emptyGroup: target.kind === 'ReplicationController'};
}

function metricRules(old: KubeObject | undefined): VersionRules {
  const rules = {emptyGroup: true};
  const any = list(old?.spec?.metrics).some(
    ({type, object}) => type === 'Object' && object && hasVersionProblem(object.describedObject?.apiVersion, rules),
  );
  return {...rules, any};
}

function validateScaling(rules: Part, path: string): FieldError[] {
  const {stabilizationWindowSeconds: seconds, selectPolicy, policies, tolerance} = rules;
  const errors: FieldError[] = [];
  if (seconds < 0) errors.push(invalid(`${path}.stabilizationWindowSeconds`, seconds, 'must be greater than or equal to zero'));
  if (seconds > maxStabilizationSeconds)
    errors.push(invalid(`${path}.stabilizationWindowSeconds`, seconds, `must be less than or equal to ${maxStabilizationSeconds}`));
  if (selectPolicy !== undefined && !selectPolicies.includes(selectPolicy))
    errors.push(notSupported(`${path}.selectPolicy`, selectPolicy, selectPolicies));
  if (list(policies).length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'));
  for (const [index, policy] of list(policies).entries()) errors.push(...validatePolicy(policy, `${path}.policies[${index}]`));
  if (nanos(tolerance) < 0n) errors.push(invalid(`${path}.tolerance`, String(tolerance), notNegative));
  return errors;
}

function validatePolicy({type = '', value = 0, periodSeconds = 0}: Part, path: string): FieldError[] {
  const errors = policyTypes.includes(type) ? [] : [notSupported(`${path}.type`, type, policyTypes)];
  if (value <= 0) errors.push(invalid(`${path}.value`, value, 'must be greater than zero'));
  if (periodSeconds <= 0) errors.push(invalid(`${path}.periodSeconds`, periodSeconds, 'must be greater than zero'));
  if (periodSeconds > maxPeriodSeconds)
    errors.push(invalid(`${path}.periodSeconds`, periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`));
  return errors;
}
