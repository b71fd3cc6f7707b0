/** Whether a flow schema is well formed. The specs of the two that every server has are fixed. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems, subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {list, type Part} from '../common/loose.ts';
import {dns1123Label} from '../common/names.ts';
import {mandatoryFlowSchemas} from './mandatory.validate.ts';
import {validateStatus} from './status.validate.ts';

const maxPrecedence = 10_000;
const distinguishers = ['ByNamespace', 'ByUser'];
const subjectKinds = ['Group', 'ServiceAccount', 'User'];
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function validateFlowSchema({metadata, spec: given, status}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const name = metadata.name ?? '';
  const errors = validateSpec(name, spec);
  const fixed = Object.hasOwn(mandatoryFlowSchemas, name) ? mandatoryFlowSchemas[name] : undefined;
  if (fixed && !sameJson(spec, fixed)) errors.push(invalid('spec', spec, `spec of '${name}' must equal the fixed value`));
  return [...errors, ...validateStatus(status)];
}

export const validateFlowSchemaUpdate = (object: KubeObject, _old: KubeObject, subresource = ''): FieldError[] =>
  subresource === 'status' ? validateStatus(object.status) : validateFlowSchema(object);

function validateSpec(name: string, spec: Part): FieldError[] {
  const errors: FieldError[] = [];
  const precedence = spec.matchingPrecedence ?? 0;
  const wrong = (detail: string) => errors.push(invalid('spec.matchingPrecedence', precedence, detail));
  if (precedence <= 0) wrong('must be a positive value');
  if (precedence > maxPrecedence) wrong(`must not be greater than ${maxPrecedence}`);
  if (precedence === 1 && name !== 'exempt') wrong("only the schema named 'exempt' may have matchingPrecedence 1");
  const method = spec.distinguisherMethod;
  if (method && !distinguishers.includes(method.type))
    errors.push(notSupported('spec.distinguisherMethod.type', {Type: method.type ?? ''}, distinguishers));
  const level = spec.priorityLevelConfiguration?.name;
  const path = 'spec.priorityLevelConfiguration.name';
  errors.push(...(level ? subdomain(level, path) : [required(path, 'must reference a priority level')]));
  return [...errors, ...list(spec.rules).flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`))];
}

function validateRule({subjects, resourceRules, nonResourceRules}: Part, path: string): FieldError[] {
  const errors = list(subjects).flatMap((subject, index) => validateSubject(subject, `${path}.subjects[${index}]`));
  if (list(subjects).length === 0) errors.push(required(`${path}.subjects`, 'subjects must contain at least one value'));
  if (list(resourceRules).length === 0 && list(nonResourceRules).length === 0)
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  for (const [index, rule] of list(resourceRules).entries()) errors.push(...resourceRule(rule, `${path}.resourceRules[${index}]`));
  for (const [index, rule] of list(nonResourceRules).entries()) errors.push(...pathRule(rule, `${path}.nonResourceRules[${index}]`));
  return errors;
}

function validateSubject(subject: Part, path: string): FieldError[] {
  const {kind = ''} = subject;
  if (!subjectKinds.includes(kind)) return [notSupported(`${path}.kind`, kind, subjectKinds)];
  const fieldOf = (each: string): string => each.charAt(0).toLowerCase() + each.slice(1);
  const own = fieldOf(kind);
  const errors = subject[own]
    ? validateName(subject[own], kind === 'ServiceAccount', `${path}.${own}`)
    : [required(`${path}.${own}`, `${own} is required when subject kind is '${kind}'`)];
  for (const other of ['ServiceAccount', 'User', 'Group'])
    if (other !== kind && subject[fieldOf(other)])
      errors.push(fieldForbidden(`${path}.${fieldOf(other)}`, `${fieldOf(other)} is forbidden when subject kind is not '${other}'`));
  return errors;
}

function validateName({name, namespace}: Part, isServiceAccount: boolean, path: string): FieldError[] {
  const errors = name ? [] : [required(`${path}.name`)];
  if (!isServiceAccount) return errors;
  if (name && name !== '*') errors.push(...subdomain(name, `${path}.name`));
  if (namespace) return [...errors, ...problems(`${path}.namespace`, namespace, dns1123Label(namespace))];
  return [...errors, required(`${path}.namespace`, 'must specify namespace for service account')];
}

function validateVerbs(given: string[], path: string): FieldError[] {
  if (given.length === 0) return [required(path, 'verbs must contain at least one value')];
  if (given.includes('*')) return given.length > 1 ? [invalid(path, given, "if '*' is present, must not specify other verbs")] : [];
  return given.every((verb) => verbs.includes(verb)) ? [] : [notSupported(path, given, verbs)];
}

function resourceRule(rule: Part, path: string): FieldError[] {
  const errors = validateVerbs(list(rule.verbs), `${path}.verbs`);
  for (const [field, one, many] of [
    ['apiGroups', 'api group', 'api groups'],
    ['resources', 'resource', 'resources'],
  ] as const) {
    const values: string[] = list(rule[field]);
    const at = `${path}.${field}`;
    if (values.length === 0) errors.push(required(at, `resource rules must supply at least one ${one}`));
    else if (values.length > 1 && values.includes('*'))
      errors.push(invalid(at, values, `if '*' is present, must not specify other ${many}`));
  }
  const namespaces: string[] = list(rule.namespaces);
  const at = `${path}.namespaces`;
  if (namespaces.length === 0 && !rule.clusterScope)
    return [...errors, required(at, 'resource rules that are not cluster scoped must supply at least one namespace')];
  if (namespaces.includes('*'))
    return namespaces.length > 1 ? [...errors, invalid(at, namespaces, "if '*' is present, must not specify other namespaces")] : errors;
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  for (const [index, name] of namespaces.entries())
    for (const text of dns1123Label(name)) errors.push(invalid(`${at}[${index}]`, name, intro + text));
  return errors;
}

function pathRule(rule: Part, path: string): FieldError[] {
  const errors = validateVerbs(list(rule.verbs), `${path}.verbs`);
  const urls: string[] = list(rule.nonResourceURLs);
  const at = `${path}.nonResourceURLs`;
  if (urls.length === 0) return [...errors, required(at, 'nonResourceURLs must contain at least one value')];
  if (urls.includes('*'))
    return urls.length > 1 ? [...errors, invalid(at, urls, "if '*' is present, must not specify other non-resource URLs")] : errors;
  for (const [index, url] of urls.entries()) {
    const problem = urlProblem(url);
    if (problem) errors.push(invalid(`${at}[${index}]`, url, problem));
  }
  return errors;
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined;
}
