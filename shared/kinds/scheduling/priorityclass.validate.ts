/** Whether a priority class is well formed. Names and values of the system's own are fixed; no value ever changes. */
import {type FieldError, fieldForbidden, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {validateImmutable} from '../common/metadata.ts';

const systemPrefix = 'system-';
const highestUserValue = 1_000_000_000;
const systemValues: Readonly<Record<string, number>> = {'system-node-critical': 2_000_001_000, 'system-cluster-critical': 2_000_000_000};
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

export function validatePriorityClass({metadata, value = 0, globalDefault = false, preemptionPolicy}: KubeObject): FieldError[] {
  const name = metadata.name ?? '';
  const errors: FieldError[] = [];
  if (name.startsWith(systemPrefix)) {
    const problem = systemProblem(name, value, globalDefault);
    const words = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`;
    if (problem) errors.push(fieldForbidden('metadata.name', words));
  } else if (value > highestUserValue)
    errors.push(fieldForbidden('value', `maximum allowed value of a user defined priority is ${highestUserValue}`));
  if (preemptionPolicy === '') errors.push(required('preemptionPolicy'));
  else if (preemptionPolicy !== undefined && !preemptionPolicies.includes(preemptionPolicy))
    errors.push(notSupported('preemptionPolicy', preemptionPolicy, preemptionPolicies));
  return errors;
}

export const validatePriorityClassUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...((object.value ?? 0) === (old.value ?? 0) ? [] : [fieldForbidden('value', 'may not be changed in an update.')]),
  ...validateImmutable(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'),
];

function systemProblem(name: string, value: number, globalDefault: boolean): string {
  const expected = Object.hasOwn(systemValues, name) ? systemValues[name] : undefined;
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : '';
}
