/** What requests a webhook or policy is asked about: rules over operations, groups, versions and resources; and the selectors beside them. */
import {duplicate, type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import {problems} from '../common/checks.ts';
import {validateLabelSelector} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {pathSegment} from '../common/names.ts';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];
export const failurePolicies = ['Fail', 'Ignore'];
export const matchPolicies = ['Equivalent', 'Exact'];

export function validateRule(rule: Part, path: string): FieldError[] {
  const asked: string[] = list(rule.operations);
  const errors = wildcardAlone(asked, `${path}.operations`, 'operations');
  for (const [index, operation] of asked.entries())
    if (!operations.includes(operation)) errors.push(notSupported(`${path}.operations[${index}]`, operation, operations));
  const versions: string[] = list(rule.apiVersions);
  errors.push(...wildcardAlone(list(rule.apiGroups), `${path}.apiGroups`, 'API groups'));
  errors.push(...wildcardAlone(versions, `${path}.apiVersions`, 'API versions'));
  for (const [index, version] of versions.entries()) if (!version) errors.push(required(`${path}.apiVersions[${index}]`));
  errors.push(...validateResources(list(rule.resources), `${path}.resources`));
  if (rule.scope !== undefined && !scopes.includes(rule.scope)) errors.push(notSupported(`${path}.scope`, rule.scope, scopes));
  return errors;
}

function wildcardAlone(values: string[], path: string, others: string): FieldError[] {
  if (values.length === 0) return [required(path)];
  const isMixed = values.length > 1 && values.includes('*');
  return isMixed ? [invalid(path, values, `if '*' is present, must not specify other ${others}`)] : [];
}

/** `pods`, `pods/status`, `pods/*`, `*`/`status`, `*` and all of everything; what a wildcard says already must not be said again. */
function validateResources(resources: string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  let hasPlain = false;
  for (const [index, name] of resources.entries()) {
    const at = `${path}[${index}]`;
    if (!name) {
      errors.push(required(at));
      continue;
    }
    const slash = name.indexOf('/');
    if (slash < 0) {
      // As the reference counts, the last one decides.
      hasPlain = name !== '*';
      continue;
    }
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)];
    if (wholeResources.has(resource)) errors.push(invalid(at, name, `if '${resource}/*' is present, must not specify ${name}`));
    if (wholeSubresources.has(subresource)) errors.push(invalid(at, name, `if '*/${subresource}' is present, must not specify ${name}`));
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && hasPlain)
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  return errors;
}

/** The constraints of a policy or of its binding. */
export function validateMatchResources(match: Part, path: string): FieldError[] {
  const {matchPolicy, namespaceSelector, objectSelector} = match;
  const errors: FieldError[] = [];
  if (matchPolicy === undefined) errors.push(required(`${path}.matchPolicy`));
  else if (!matchPolicies.includes(matchPolicy)) errors.push(notSupported(`${path}.matchPolicy`, matchPolicy, matchPolicies));
  for (const [field, selector] of Object.entries({namespaceSelector, objectSelector}))
    errors.push(...(selector ? validateLabelSelector(selector, `${path}.${field}`) : [required(`${path}.${field}`)]));
  for (const field of ['resourceRules', 'excludeResourceRules'])
    for (const [index, rule] of list(match[field]).entries()) errors.push(...validateNamedRule(rule, `${path}.${field}[${index}]`));
  return errors;
}

function validateNamedRule(rule: Part, path: string): FieldError[] {
  const names: string[] = list(rule.resourceNames);
  const errors = names.flatMap((name, index) => {
    const at = `${path}.resourceNames[${index}]`;
    return [...problems(at, name, pathSegment(name)), ...(names.indexOf(name) < index ? [duplicate(at, name)] : [])];
  });
  return [...errors, ...validateRule(rule, path)];
}

const mutableOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** What is deleted cannot be changed. */
export const validateMutableOperations = (match: Part, path: string): FieldError[] =>
  list(match?.resourceRules)
    .flatMap((rule) => list(rule.operations))
    .filter((operation) => !mutableOperations.includes(operation))
    .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, mutableOperations));
