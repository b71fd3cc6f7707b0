/** Names and amounts of compute resources, in containers, pods, quotas and limit ranges. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import {label, problems} from './checks.ts';
import {entries, list, type Part} from './loose.ts';
import {notNegative, qualifiedName} from './names.ts';
import {isInteger, nanos, parseQuantity} from './quantity.ts';

const standardContainer = new Set(['cpu', 'memory', 'ephemeral-storage']);
const counted = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const standardQuota = new Set([
  ...standardContainer,
  ...counted,
  ...['cpu', 'memory', 'storage', 'ephemeral-storage'].map((name) => `requests.${name}`),
  ...['cpu', 'memory', 'ephemeral-storage'].map((name) => `limits.${name}`),
]);
const standard = new Set([...standardQuota, 'storage']);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
export const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;
/** More may be allowed to all together than there is. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);
export const isStandardQuota = (name: string): boolean =>
  standardQuota.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');

export function resourceName(name: string, path: string): FieldError[] {
  const errors = problems(path, name, qualifiedName(name));
  if (errors.length || name.includes('/')) return errors;
  return standard.has(name) || isStandardQuota(name) ? [] : [invalid(path, name, 'must be a standard resource type or fully qualified')];
}

export function containerResourceName(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (!name.includes('/')) {
    if (!standardContainer.has(name) && !isHugePages(name)) errors.push(invalid(path, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtended(name)) errors.push(invalid(path, name, "doesn't follow extended resource name standard"));
  return errors;
}

export function podResourceName(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (errors.length) return errors;
  return name === 'cpu' || name === 'memory' || isHugePages(name) ? [] : [notSupported(path, name, ['cpu', 'memory'])];
}

export function quotaResourceName(name: string, path: string): FieldError[] {
  const errors = resourceName(name, path);
  if (!name.includes('/') && !isStandardQuota(name)) errors.push(invalid(path, name, 'must be a standard resource for quota'));
  return errors;
}

/** Not negative; whole where things are counted. */
export function quantityValue(name: string, value: unknown, path: string): FieldError[] {
  const amount = nanos(value);
  const errors = amount < 0n ? [invalid(path, String(value), notNegative)] : [];
  if ((counted.includes(name) || isExtended(name)) && !isInteger(amount)) errors.push(invalid(path, value, 'must be an integer'));
  return errors;
}

const hugePagesProblem = (name: string, value: unknown): string[] => {
  const page = parseQuantity(name.slice('hugepages-'.length));
  if (page !== undefined && page > 0n && isInteger(page) && nanos(value) % page === 0n) return [];
  return [`${value} is not positive integer multiple of ${name}`];
};

/** Requests and limits of a container, or of a whole pod. */
export function resourceRequirements(
  requirements: Part,
  path: string,
  options: {claims?: readonly string[]; name?: (name: string, path: string) => FieldError[]} = {},
): FieldError[] {
  const {claims = [], name: nameRule = containerResourceName} = options;
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [name, value] of entries(requirements?.limits)) {
    const at = `${path}.limits[${name}]`;
    seen.add(name);
    errors.push(...nameRule(name, at), ...quantityValue(name, value, at));
    if (isHugePages(name)) errors.push(...problems(at, value, hugePagesProblem(name, value)));
  }
  for (const [name, value] of entries(requirements?.requests)) {
    const at = `${path}.requests[${name}]`;
    seen.add(name);
    errors.push(...nameRule(name, at), ...quantityValue(name, value, at));
    const limit = requirements.limits?.[name];
    if (limit !== undefined) {
      const difference = nanos(value) - nanos(limit);
      if (difference !== 0n && !isOvercommitAllowed(name))
        errors.push(invalid(`${path}.requests`, value, `must be equal to ${name} limit of ${limit}`));
      else if (difference > 0n) errors.push(invalid(`${path}.requests`, value, `must be less than or equal to ${name} limit of ${limit}`));
    } else if (!isOvercommitAllowed(name)) errors.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
    if (isHugePages(name)) errors.push(...problems(at, value, hugePagesProblem(name, value)));
  }
  if ([...seen].some(isHugePages) && !seen.has('cpu') && !seen.has('memory'))
    errors.push(fieldForbidden(path, 'HugePages require cpu or memory'));
  return [...errors, ...claimNames(requirements?.claims, claims, `${path}.claims`)];
}

function claimNames(given: Part, declared: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const duplicated = (at: string, value: string): void => {
    errors.push({type: 'FieldValueDuplicate', field: at, message: `Duplicate value: ${JSON.stringify(value)}`});
  };
  for (const [index, {name = '', request = ''}] of list(given).entries()) {
    const at = `${path}[${index}]`;
    if (!name) {
      errors.push(required(at));
      continue;
    }
    if (seen.has(name)) duplicated(at, name);
    else {
      const key = request ? `${name}/${request}` : name;
      if (request) errors.push(...label(request, `${at}.request`));
      if (seen.has(key)) duplicated(at, key);
      else if (!request) for (const other of seen) if (other.startsWith(`${name}/`)) duplicated(at, name);
      seen.add(key);
    }
    if (!declared.includes(name)) {
      const known = declared.length ? `: ${[...declared].sort().join(', ')}` : ' which is empty';
      errors.push({
        type: 'FieldValueNotFound',
        field: at,
        message: `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${known}`,
      });
    }
  }
  return errors;
}
