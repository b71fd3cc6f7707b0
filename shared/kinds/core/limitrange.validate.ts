/** Whether limits are well formed and agree with each other. */
import {duplicate, type FieldError, fieldForbidden, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems} from '../common/checks.ts';
import {entries, list, type Part} from '../common/loose.ts';
import {qualifiedName} from '../common/names.ts';
import {nanos, wholeUnits} from '../common/quantity.ts';
import {containerResourceName, isOvercommitAllowed, resourceName} from '../common/resources.ts';

const types = ['Pod', 'Container', 'PersistentVolumeClaim'];

function typeName(type: string, path: string): FieldError[] {
  const errors = problems(path, type, qualifiedName(type));
  if (errors.length || type.includes('/') || types.includes(type)) return errors;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
}

export function validateLimitRange({spec}: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, limit] of list(spec?.limits).entries()) {
    const path = `spec.limits[${index}]`;
    const type: string = limit.type ?? '';
    errors.push(...typeName(type, `${path}.type`));
    if (seen.has(type)) errors.push(duplicate(`${path}.type`, type));
    seen.add(type);
    const keys = new Set<string>();
    const collect = (field: string): void => {
      const rule = type === 'Pod' || type === 'Container' ? containerResourceName : resourceName;
      for (const [name] of entries(limit[field])) {
        errors.push(...rule(name, `${path}.${field}[${name}]`));
        keys.add(name);
      }
    };
    collect('max');
    collect('min');
    for (const field of ['default', 'defaultRequest'])
      if (type !== 'Pod') collect(field);
      else if (entries(limit[field]).length) errors.push(fieldForbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
    if (type === 'PersistentVolumeClaim' && limit.min?.storage === undefined && limit.max?.storage === undefined)
      errors.push(required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided'));
    collect('maxLimitRequestRatio');
    for (const key of keys) errors.push(...agreement(type === 'Pod' ? {...limit, default: {}, defaultRequest: {}} : limit, key, path));
  }
  return errors;
}

function agreement(limit: Part, key: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const [min, max, usual, asked, ratio] = ['min', 'max', 'default', 'defaultRequest', 'maxLimitRequestRatio'].map(
    (field) => limit[field]?.[key],
  );
  const above = (one: unknown, other: unknown): boolean => one !== undefined && other !== undefined && nanos(one) > nanos(other);
  const say = (field: string, value: unknown, words: string): void => {
    errors.push(invalid(`${path}.${field}[${key}]`, value, words));
  };
  if (above(min, max)) say('min', min, `min value ${min} is greater than max value ${max}`);
  if (above(min, asked)) say('defaultRequest', asked, `min value ${min} is greater than default request value ${asked}`);
  if (above(asked, max)) say('defaultRequest', asked, `default request value ${asked} is greater than max value ${max}`);
  if (above(asked, usual)) say('defaultRequest', asked, `default request value ${asked} is greater than default limit value ${usual}`);
  if (above(min, usual)) say('default', min, `min value ${min} is greater than default value ${usual}`);
  if (above(usual, max)) say('default', max, `default value ${usual} is greater than max value ${max}`);
  if (ratio !== undefined) {
    if (nanos(ratio) < 1_000_000_000n) say('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`);
    if (min !== undefined && max !== undefined) {
      const most = Number(wholeUnits(nanos(max) * 1000n)) / Number(wholeUnits(nanos(min) * 1000n));
      if (Number(wholeUnits(nanos(ratio) * 1000n)) / 1000 > most)
        say('maxLimitRequestRatio', ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`);
    }
  }
  if (!isOvercommitAllowed(key) && usual !== undefined && asked !== undefined && nanos(usual) !== nanos(asked))
    say('defaultRequest', asked, `default value ${usual} must equal to defaultRequest value ${asked} in ${key}`);
  return errors;
}
