/** Whether an ingress is well formed: rules with hosts, paths and backends, certificates, and the addresses that its status tells. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label, legacyIp, port, problems, subdomain} from '../common/checks.ts';
import {parseIp} from '../common/ip.ts';
import {list, type Part} from '../common/loose.ts';
import {dns1123Subdomain, portName, wildcardSubdomain} from '../common/names.ts';
import {typedReference} from './references.validate.ts';

const classAnnotation = 'kubernetes.io/ingress.class';
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const forbiddenSequences = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenEndings = ['/..', '/.'];
const notDns = 'must be a DNS name, not an IP address';

/** What a stored object may keep that a new one may not have. */
interface Leniency {
  secretNames?: boolean;
  wildcardRules?: boolean;
}

export function validateIngress(object: KubeObject): FieldError[] {
  const errors = validateSpec(object.spec ?? {}, {});
  const given = object.metadata.annotations?.[classAnnotation];
  const className = object.spec?.ingressClassName;
  if (given !== undefined && className !== undefined && given !== className)
    errors.push(invalid(`annotations.${classAnnotation}`, given, 'must match `ingressClassName` when both are specified'));
  return errors;
}

export function validateIngressUpdate(object: KubeObject, old: KubeObject, subresource = ''): FieldError[] {
  if (subresource === 'status') return validateStatus(object.status, old.status);
  return validateSpec(object.spec ?? {}, leniencyOf(old.spec ?? {}));
}

function leniencyOf(spec: Part): Leniency {
  return {
    secretNames: list(spec.tls).some(({secretName}) => secretName && dns1123Subdomain(secretName).length > 0),
    wildcardRules: list(spec.rules).some((rule) => rule.host?.includes('*') && validateRule(rule, '').length > 0),
  };
}

function validateSpec(spec: Part, lenient: Leniency): FieldError[] {
  const rules = list(spec.rules);
  const errors: FieldError[] = [];
  if (rules.length === 0 && !spec.defaultBackend)
    errors.push(invalid('spec', spec.rules, 'either `defaultBackend` or `rules` must be specified'));
  if (spec.defaultBackend) errors.push(...validateBackend(spec.defaultBackend, 'spec.defaultBackend'));
  for (const [index, rule] of rules.entries()) {
    const path = `spec.rules[${index}]`;
    errors.push(...validateHost(rule.host ?? '', `${path}.host`));
    if (!rule.host?.includes('*') || !lenient.wildcardRules) errors.push(...validateRule(rule, path));
  }
  for (const [index, tls] of list(spec.tls).entries()) errors.push(...validateTls(tls, `spec.tls[${index}]`, lenient));
  if (spec.ingressClassName !== undefined) errors.push(...subdomain(spec.ingressClassName, 'spec.ingressClassName'));
  return errors;
}

const nameOrWildcard = (host: string, path: string): FieldError[] =>
  problems(path, host, host.includes('*') ? wildcardSubdomain(host) : dns1123Subdomain(host));

const validateHost = (host: string, path: string): FieldError[] =>
  host ? [...(parseIp(host, true) ? [invalid(path, host, notDns)] : []), ...nameOrWildcard(host, path)] : [];

function validateRule({http}: Part, path: string): FieldError[] {
  if (!http) return [];
  const paths = list(http.paths);
  if (paths.length === 0) return [required(`${path}.http.paths`)];
  return paths.flatMap((item, index) => validatePath(item, `${path}.http.paths[${index}]`));
}

function validatePath({path: value = '', pathType, backend}: Part, path: string): FieldError[] {
  if (pathType == null) return [required(`${path}.pathType`, 'pathType must be specified')];
  const errors: FieldError[] = [];
  const wrong = (detail: string) => errors.push(invalid(`${path}.path`, value, detail));
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!value.startsWith('/')) wrong('must be an absolute path');
    for (const sequence of forbiddenSequences) if (value.includes(sequence)) wrong(`must not contain '${sequence}'`);
    for (const ending of forbiddenEndings) if (value.endsWith(ending)) wrong(`cannot end with '${ending}'`);
  } else if (pathType === 'ImplementationSpecific') {
    if (value && !value.startsWith('/')) wrong('must be an absolute path');
  } else errors.push(notSupported(`${path}.pathType`, pathType, pathTypes));
  return [...errors, ...validateBackend(backend ?? {}, `${path}.backend`)];
}

function validateBackend({resource, service}: Part, path: string): FieldError[] {
  if (resource && service) return [invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) return typedReference(resource, `${path}.resource`);
  if (!service) return [invalid(path, '', 'resource or service backend is required')];
  const {name = '', port: {name: nameOfPort = '', number = 0} = {}} = service;
  const at = `${path}.service`;
  const errors: FieldError[] = [];
  errors.push(...(name ? label(name, `${at}.name`) : [required(`${at}.name`)]));
  if (nameOfPort && number) errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (nameOfPort) errors.push(...problems(`${at}.port.name`, nameOfPort, portName(nameOfPort)));
  else if (number) errors.push(...port(number, `${at}.port.number`));
  else errors.push(required(path, 'port name or number is required'));
  return errors;
}

const validateTls = ({hosts, secretName}: Part, path: string, lenient: Leniency): FieldError[] => [
  ...list(hosts).flatMap((host, index) => nameOrWildcard(host, `${path}.hosts[${index}]`)),
  ...(secretName && !lenient.secretNames ? subdomain(secretName, `${path}.secretName`) : []),
];

function validateStatus(status: Part, old: Part): FieldError[] {
  const stored = list(old?.loadBalancer?.ingress).flatMap(({ip}) => ip || []);
  return list(status?.loadBalancer?.ingress).flatMap(({ip, hostname}, index) => {
    const path = `status.loadBalancer.ingress[${index}]`;
    const isIp = hostname && parseIp(hostname, true);
    return [
      ...(ip ? legacyIp(ip, `${path}.ip`, stored) : []),
      ...(hostname ? subdomain(hostname, `${path}.hostname`) : []),
      ...(isIp ? [invalid(`${path}.hostname`, hostname, notDns)] : []),
    ];
  });
}
