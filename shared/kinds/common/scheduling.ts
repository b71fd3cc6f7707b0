/** Where a pod may run: node selectors, affinity, tolerations, spreading. */
import {duplicate, type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import {among, positive, problems} from './checks.ts';
import {validateLabelName, validateLabelSelector} from './labels.ts';
import {list, type Part} from './loose.ts';
import {dns1123Label, dns1123Subdomain, validLabelValue} from './names.ts';

export interface SchedulingOptions {
  /** The stored object already holds selectors with values that are no label values. */
  lenientValues?: boolean;
}

function nodeRequirement(requirement: Part, path: string, lenient = false): FieldError[] {
  const {key = '', operator = '', values = []} = requirement;
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (!values.length) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length) errors.push(fieldForbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  errors.push(...validateLabelName(key, `${path}.key`));
  if (!lenient)
    for (const [index, value] of list(values).entries())
      errors.push(...problems(`${path}.values[${index}]`, value, validLabelValue(value)));
  return errors;
}

function nodeFieldRequirement({key = '', operator = '', values = []}: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  else if (values.length !== 1)
    errors.push(required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  if (key !== 'metadata.name') return [...errors, invalid(`${path}.key`, key, 'not a valid field selector key')];
  return [...errors, ...list(values).flatMap((value, index) => problems(`${path}.values[${index}]`, value, dns1123Subdomain(value)))];
}

const nodeTerm = (term: Part, path: string, lenient = false): FieldError[] => [
  ...list(term?.matchExpressions).flatMap((item, index) => nodeRequirement(item, `${path}.matchExpressions[${index}]`, lenient)),
  ...list(term?.matchFields).flatMap((item, index) => nodeFieldRequirement(item, `${path}.matchFields[${index}]`)),
];

export function nodeSelector(selector: Part, path: string, lenient = false): FieldError[] {
  const terms = list(selector.nodeSelectorTerms);
  if (!terms.length) return [required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')];
  return terms.flatMap((term, index) => nodeTerm(term, `${path}.nodeSelectorTerms[${index}]`, lenient));
}

function podTerm(term: Part, path: string, options: SchedulingOptions): FieldError[] {
  const key = term?.topologyKey ?? '';
  return [
    ...validateLabelSelector(term?.labelSelector, `${path}.labelSelector`, options),
    ...validateLabelSelector(term?.namespaceSelector, `${path}.namespaceSelector`, options),
    ...list(term?.namespaces).flatMap((name) => problems(`${path}.namespace`, name, dns1123Label(name))),
    ...labelKeys(term, path),
    ...(key ? [] : [required(`${path}.topologyKey`, 'can not be empty')]),
    ...validateLabelName(key, `${path}.topologyKey`),
  ];
}

/** matchLabelKeys and mismatchLabelKeys: only beside a selector, and not about what it already names. */
function labelKeys({matchLabelKeys, mismatchLabelKeys, labelSelector}: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, keys] of [
    ['matchLabelKeys', list(matchLabelKeys)],
    ['mismatchLabelKeys', list(mismatchLabelKeys)],
  ] as const) {
    if (!keys.length) continue;
    if (!labelSelector) errors.push(fieldForbidden(`${path}.${name}`, 'must not be specified when labelSelector is not set'));
    else for (const [index, key] of keys.entries()) errors.push(...validateLabelName(key, `${path}.${name}[${index}]`));
  }
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const {key} of list(labelSelector?.matchExpressions)) {
    const index = list(matchLabelKeys).lastIndexOf(key);
    if (index >= 0 && seen.has(key)) errors.push(invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    seen.add(key);
  }
  for (const [index, key] of list(matchLabelKeys).entries())
    if (list(mismatchLabelKeys).includes(key))
      errors.push(invalid(`${path}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
  return errors;
}

const weight = (value = 0, path = ''): FieldError[] =>
  value <= 0 || value > 100 ? [invalid(`${path}.weight`, value, 'must be in the range 1-100')] : [];

export function affinity(given: Part, path: string, options: SchedulingOptions): FieldError[] {
  if (!given) return [];
  const errors: FieldError[] = [];
  const must = 'requiredDuringSchedulingIgnoredDuringExecution';
  const may = 'preferredDuringSchedulingIgnoredDuringExecution';
  const node = given.nodeAffinity;
  if (node?.[must]) errors.push(...nodeSelector(node[must], `${path}.nodeAffinity.${must}`, options.lenientValues));
  for (const [index, term] of list(node?.[may]).entries()) {
    const at = `${path}.nodeAffinity.${may}[${index}]`;
    errors.push(...weight(term.weight, at), ...nodeTerm(term.preference, `${at}.preference`, true));
  }
  for (const name of ['podAffinity', 'podAntiAffinity']) {
    for (const [index, term] of list(given[name]?.[must]).entries())
      errors.push(...podTerm(term, `${path}.${name}.${must}[${index}]`, options));
    for (const [index, term] of list(given[name]?.[may]).entries()) {
      const at = `${path}.${name}.${may}[${index}]`;
      errors.push(...weight(term.weight, at), ...podTerm(term.podAffinityTerm ?? {}, `${at}.podAffinityTerm`, options));
    }
  }
  return errors;
}

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function tolerations(given: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, {key = '', operator = '', value = '', effect = '', tolerationSeconds}] of list(given).entries()) {
    const at = `${path}[${index}]`;
    if (key) errors.push(...validateLabelName(key, `${at}.key`));
    else if (operator !== 'Exists')
      errors.push(
        invalid(`${at}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'),
      );
    if (tolerationSeconds !== undefined && effect !== 'NoExecute')
      errors.push(invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    if (operator === 'Equal' || operator === '') {
      const texts = validLabelValue(value);
      if (texts.length) errors.push(invalid(`${at}.operator`, value, texts.join(';')));
    } else if (operator === 'Exists') {
      if (value) errors.push(invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else if (operator === 'Lt' || operator === 'Gt')
      errors.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt']));
    else errors.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    if (effect) errors.push(...among(effect, taintEffects, `${at}.effect`));
  }
  return errors;
}

export function taints(given: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of list(given).entries()) {
    const {key = '', value = '', effect = ''} = taint;
    const at = `${path}[${index}]`;
    errors.push(...validateLabelName(key, `${at}.key`));
    const texts = validLabelValue(value);
    if (texts.length) errors.push(invalid(`${at}.value`, value, texts.join(';')));
    errors.push(...(effect ? among(effect, taintEffects, `${at}.effect`) : [required(`${at}.effect`)]));
    const id = `${effect} ${key}`;
    if (seen.has(id)) {
      const error = duplicate(at, {Key: key, Value: value, Effect: effect, TimeAdded: taint.timeAdded ?? null});
      errors.push({...error, message: `${error.message}: taints must be unique by key and effect pair`});
    }
    seen.add(id);
  }
  return errors;
}

export function spreadConstraints(given: Part, path: string, options: SchedulingOptions): FieldError[] {
  const constraints = list(given);
  return constraints.flatMap((constraint, index) => {
    const {topologyKey = '', whenUnsatisfiable = '', minDomains} = constraint;
    const at = `${path}[${index}]`;
    const errors = positive(constraint.maxSkew, `${at}.maxSkew`);
    if (!topologyKey) errors.push(required(`${at}.topologyKey`, 'can not be empty'));
    errors.push(...among(whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'], `${at}.whenUnsatisfiable`));
    const repeated = constraints
      .slice(index + 1)
      .some((other) => (other.topologyKey ?? '') === topologyKey && (other.whenUnsatisfiable ?? '') === whenUnsatisfiable);
    if (repeated) errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`));
    if (minDomains !== undefined) {
      errors.push(...positive(minDomains, `${at}.minDomains`));
      if (whenUnsatisfiable !== 'DoNotSchedule')
        errors.push(
          invalid(`${at}.minDomains`, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`),
        );
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'])
      if (constraint[policy] !== undefined) errors.push(...among(constraint[policy], ['Honor', 'Ignore'], `${at}.${policy}`));
    errors.push(...labelKeys(constraint, at));
    if (!options.lenientValues) errors.push(...validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`));
    return errors;
  });
}
