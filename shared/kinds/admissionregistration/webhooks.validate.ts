/** Whether the webhooks of a configuration are well formed. What an older server stored may stay. */
import {duplicate, type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {qualifiedDomain} from '../common/domains.ts';
import {sameJson} from '../common/equal.ts';
import {validateLabelSelector} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {dns1035Label} from '../common/names.ts';
import {validateService, validateUrl} from './client-config.validate.ts';
import {validateMatchConditions} from './match-conditions.validate.ts';
import {failurePolicies, matchPolicies, validateRule} from './rules.validate.ts';

const sideEffects = ['None', 'NoneOnDryRun'];
const allSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const reinvocationPolicies = ['IfNeeded', 'Never'];
const reviewVersions = ['v1', 'v1beta1'];

interface Rules {
  mutating: boolean;
  conditions: boolean;
  sideEffects: readonly string[];
  knownVersion: boolean;
  uniqueNames: boolean;
  lenientValues: boolean;
}

export function validateWebhooks(object: KubeObject, mutating: boolean, old?: KubeObject): FieldError[] {
  const rules = rulesFor(list(object.webhooks), mutating, old && list(old.webhooks));
  const names = new Set<string>();
  return list(object.webhooks).flatMap((hook, index) => {
    const path = `webhooks[${index}]`;
    const {name = ''} = hook;
    const errors = [
      ...validateWebhook(hook, path, rules),
      ...validateVersions(list(hook.admissionReviewVersions), rules.knownVersion, `${path}.admissionReviewVersions`),
    ];
    if (rules.uniqueNames && name && names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    return errors;
  });
}

/** A rule that the stored configuration breaks is not held against its update. */
function rulesFor(hooks: Part[], mutating: boolean, old: Part[] | undefined): Rules {
  const before = old ?? [];
  const isKnown = (hook: Part): boolean => {
    const versions = list(hook.admissionReviewVersions);
    return versions.length === 0 || versions.some((version) => reviewVersions.includes(version));
  };
  const hasWrongValue = ({namespaceSelector, objectSelector}: Part): boolean =>
    validateLabelSelector(namespaceSelector, '').length + validateLabelSelector(objectSelector, '').length > 0;
  const conditionsAre = (list: Part[]) => list.map(({matchConditions}) => matchConditions ?? []);
  return {
    mutating,
    conditions: !old || !sameJson(conditionsAre(hooks), conditionsAre(before)),
    sideEffects: before.every((hook) => sideEffects.includes(hook.sideEffects)) ? sideEffects : allSideEffects,
    knownVersion: before.every(isKnown),
    uniqueNames: new Set(before.map(({name}) => name)).size === before.length,
    lenientValues: before.some(hasWrongValue),
  };
}

function validateWebhook(hook: Part, path: string, rules: Rules): FieldError[] {
  const errors = qualifiedDomain(hook.name ?? '', `${path}.name`);
  const among = (field: string, supported: readonly string[]): void => {
    if (hook[field] != null && !supported.includes(hook[field])) errors.push(notSupported(`${path}.${field}`, hook[field], supported));
  };
  for (const [index, rule] of list(hook.rules).entries()) errors.push(...validateRule(rule, `${path}.rules[${index}]`));
  among('failurePolicy', failurePolicies);
  among('matchPolicy', matchPolicies);
  if (hook.sideEffects == null) errors.push(required(`${path}.sideEffects`, `must specify one of ${rules.sideEffects.join(', ')}`));
  among('sideEffects', rules.sideEffects);
  const timeout = hook.timeoutSeconds;
  if (timeout > 30 || timeout < 1)
    errors.push(invalid(`${path}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds'));
  errors.push(...validateLabelSelector(hook.namespaceSelector, `${path}.namespaceSelector`, rules));
  errors.push(...validateLabelSelector(hook.objectSelector, `${path}.objectSelector`, rules));
  if (rules.mutating) among('reinvocationPolicy', reinvocationPolicies);
  const {url, service} = hook.clientConfig ?? {};
  const at = `${path}.clientConfig`;
  if ((url === undefined) === !service) errors.push(required(at, 'exactly one of url or service is required'));
  else errors.push(...(service ? validateService(service, `${at}.service`) : validateUrl(url, `${at}.url`)));
  return rules.conditions ? [...errors, ...validateMatchConditions(hook.matchConditions, `${path}.matchConditions`)] : errors;
}

function validateVersions(versions: string[], needsKnown: boolean, path: string): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(', ')}`)];
  const errors = versions.flatMap((version, index) => {
    const at = `${path}[${index}]`;
    if (versions.indexOf(version) < index) return [invalid(at, version, 'duplicate version')];
    return dns1035Label(version).map((text) => invalid(at, version, text));
  });
  if (needsKnown && !versions.some((version) => reviewVersions.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  return errors;
}
