/** Whether a storage driver is well formed. */
import {duplicate, type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {list, type Part} from '../common/loose.ts';
import {validateImmutable} from '../common/metadata.ts';

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];
const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;
const minUpdatePeriodSeconds = 10;

export function validateCSIDriver({spec: given}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const errors: FieldError[] = [];
  const needs = (field: string, shown = field): void => {
    if (spec[field] === undefined) errors.push(required(`spec.${shown}`));
  };
  needs('attachRequired', 'attachedRequired');
  needs('podInfoOnMount');
  needs('storageCapacity');
  if (spec.fsGroupPolicy !== undefined && !groupPolicies.includes(spec.fsGroupPolicy))
    errors.push(notSupported('spec.fsGroupPolicy', spec.fsGroupPolicy, groupPolicies));
  errors.push(...validateTokenRequests(list(spec.tokenRequests), 'spec.tokenRequests'));
  for (const mode of list(spec.volumeLifecycleModes))
    if (!lifecycleModes.includes(mode)) errors.push(notSupported('spec.volumeLifecycleModes', mode, lifecycleModes));
  needs('seLinuxMount');
  const period = spec.nodeAllocatableUpdatePeriodSeconds;
  if (period < minUpdatePeriodSeconds)
    errors.push(invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, 'must be greater than or equal to 10 seconds'));
  const inSecrets = spec.serviceAccountTokenInSecrets;
  if (inSecrets !== undefined && list(spec.tokenRequests).length === 0)
    errors.push(
      invalid('spec.serviceAccountTokenInSecrets', inSecrets, 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'),
    );
  return errors;
}

export const validateCSIDriverUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateCSIDriver(object),
  ...validateImmutable(object.spec?.attachRequired, old.spec?.attachRequired, 'spec.attachedRequired'),
  ...validateImmutable(object.spec?.volumeLifecycleModes, old.spec?.volumeLifecycleModes, 'spec.volumeLifecycleModes'),
];

function validateTokenRequests(requests: Part[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const audiences = new Set<string>();
  for (const [index, {audience = '', expirationSeconds: seconds}] of requests.entries()) {
    const at = `${path}[${index}]`;
    if (audiences.has(audience)) {
      errors.push(duplicate(`${at}.audience`, audience));
      continue;
    }
    audiences.add(audience);
    if (seconds < minTokenSeconds)
      errors.push(invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes'));
    if (seconds > maxTokenSeconds)
      errors.push(invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return errors;
}
