/** Whether a quota is well formed: resources that can be counted, scopes that apply to them. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {isStandardQuota, quantityValue, quotaResourceName} from '../common/resources.ts';

const compute = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const storage = ['persistentvolumeclaims', 'requests.storage'];
/** What each scope can count. */
const scopes: Record<string, readonly string[]> = {
  Terminating: compute,
  NotTerminating: compute,
  NotBestEffort: compute,
  PriorityClass: compute,
  CrossNamespacePodAffinity: compute,
  BestEffort: ['pods'],
  VolumeAttributesClass: storage,
};
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const amounts = (given: Part, path: string): FieldError[] =>
  entries(given).flatMap(([name, value]) => [
    ...quotaResourceName(name, `${path}[${name}]`),
    ...quantityValue(name, value, `${path}[${name}]`),
  ]);

function applies(scope: string, hard: Part): boolean[] {
  return Object.keys(hard ?? {})
    .filter((name) => isStandardQuota(name) && scopes[scope] && !scopes[scope].includes(name))
    .map(() => false);
}

function conflicts(names: ReadonlySet<string>, path: string, shown: unknown): FieldError[] {
  return opposites.filter(([one, other]) => names.has(one) && names.has(other)).map(() => invalid(path, shown, 'conflicting scopes'));
}

function validateSpec(spec: Part): FieldError[] {
  const errors = amounts(spec?.hard, 'spec.hard');
  const plain: string[] = list(spec?.scopes);
  for (const scope of plain) {
    if (!scopes[scope]) errors.push(invalid('spec.scopes', plain, 'unsupported scope'));
    for (const _ of applies(scope, spec.hard)) errors.push(invalid('spec.scopes', plain, 'unsupported scope applied to resource'));
  }
  errors.push(...conflicts(new Set(plain), 'spec.scopes', plain));
  if (!spec?.scopeSelector) return errors;
  const path = 'spec.scopeSelector.matchExpressions';
  const seen = new Set<string>();
  for (const {scopeName = '', operator = '', values} of list(spec.scopeSelector.matchExpressions)) {
    if (!scopes[scopeName]) errors.push(invalid(`${path}.scopeName`, scopeName, 'unsupported scope'));
    for (const _ of applies(scopeName, spec.hard)) errors.push(invalid(path, spec.scopeSelector, 'unsupported scope applied to resource'));
    const mustExist = scopes[scopeName] && scopeName !== 'PriorityClass' && scopeName !== 'VolumeAttributesClass';
    if (mustExist && operator !== 'Exists')
      errors.push(
        invalid(
          `${path}.operator`,
          operator,
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
        ),
      );
    if (operator === 'In' || operator === 'NotIn') {
      if (!list(values).length)
        errors.push(required(`${path}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (list(values).length)
        errors.push(invalid(`${path}.values`, values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"));
    } else errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
    seen.add(scopeName);
  }
  return [...errors, ...conflicts(seen, path, plain)];
}

const validateStatus = (status: Part): FieldError[] => [...amounts(status?.hard, 'status.hard'), ...amounts(status?.used, 'status.used')];

export const validateResourceQuota = ({spec, status}: KubeObject): FieldError[] => [...validateSpec(spec), ...validateStatus(status)];

export function validateResourceQuotaUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status') return validateStatus(object.status);
  const errors = validateSpec(object.spec);
  const [after, before] = [new Set<string>(list(object.spec?.scopes)), new Set<string>(list(old.spec?.scopes))];
  if (after.size !== before.size || [...after].some((scope) => !before.has(scope)))
    errors.push(invalid('spec.scopes', list(object.spec?.scopes), immutable));
  return errors;
}
