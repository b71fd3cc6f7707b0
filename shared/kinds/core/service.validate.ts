/** Whether a service is well formed. That its addresses and ports are free is found out when they are allocated. */
import {duplicate, type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label, legacyIp, oneOf, port, portOrName, problems, qualified, subdomain} from '../common/checks.ts';
import {endpointIp, ipFamily, legacyCidrProblems, parseIp} from '../common/ip.ts';
import {validateLabels} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const sourceRanges = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const topologyMode = 'service.kubernetes.io/topology-mode';
const topologyHints = 'service.kubernetes.io/topology-aware-hints';

export const isHeadless = (spec: Part): boolean => spec?.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None';
export const usesNodePorts = (spec: Part): boolean => spec?.type === 'NodePort' || spec?.type === 'LoadBalancer';
export const needsHealthCheck = (spec: Part): boolean => spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
export const isReachable = (spec: Part): boolean =>
  usesNodePorts(spec) || (spec?.type === 'ClusterIP' && (spec.externalIPs?.length ?? 0) > 0);

export function validateService(object: KubeObject, old?: KubeObject): FieldError[] {
  const {metadata} = object;
  const spec = object.spec ?? {};
  const errors: FieldError[] = [];
  const [hints, mode] = [metadata.annotations?.[topologyHints], metadata.annotations?.[topologyMode]];
  if (hints !== undefined && mode !== undefined && hints !== mode)
    errors.push(invalid(`metadata.annotations[${topologyMode}]`, mode, `must match annotations[${topologyHints}] when both are specified`));
  errors.push(
    ...byType(spec),
    ...ports(spec),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...affinity(spec),
    ...validateClusterIps(spec, old?.spec),
  );
  for (const [index, ip] of list(spec.externalIPs).entries()) {
    const at = `spec.externalIPs[${index}]`;
    const wrong = legacyIp(ip, at, old?.spec?.externalIPs);
    errors.push(...(wrong.length ? wrong : problems(at, ip, endpointIp(ip))));
  }
  errors.push(...oneOf(spec.type, types, 'spec.type'), ...nodePorts(spec), ...balancer(object, old), ...policies(spec));
  return errors;
}

function byType(spec: Part): FieldError[] {
  const errors: FieldError[] = [];
  if (!list(spec.ports).length && !isHeadless(spec) && spec.type !== 'ExternalName') errors.push(required('spec.ports'));
  if (usesNodePorts(spec) && isHeadless(spec))
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`));
  if (spec.type !== 'ExternalName') return errors;
  const words = 'may not be set for ExternalName services';
  if (list(spec.clusterIPs).length) errors.push(fieldForbidden('spec.clusterIPs', words));
  if (list(spec.ipFamilies).length) errors.push(fieldForbidden('spec.ipFamilies', words));
  if (spec.ipFamilyPolicy !== undefined) errors.push(fieldForbidden('spec.ipFamilyPolicy', words));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  return [...errors, ...(name ? subdomain(name, 'spec.externalName') : [required('spec.externalName')])];
}

function ports(spec: Part): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const all = list(spec.ports);
  for (const [index, {name, port: number = 0, protocol, targetPort, appProtocol}] of all.entries()) {
    const at = `spec.ports[${index}]`;
    if (!name && all.length > 1) errors.push(required(`${at}.name`));
    else if (name) {
      errors.push(...label(name, `${at}.name`));
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    errors.push(
      ...port(number, `${at}.port`),
      ...oneOf(protocol, protocols, `${at}.protocol`),
      ...portOrName(targetPort, `${at}.targetPort`),
      ...(appProtocol === undefined ? [] : qualified(appProtocol, `${at}.appProtocol`)),
    );
  }
  return errors;
}

/** The most seconds that a client sticks to its pod: a day. */
const maxAffinitySeconds = 86_400;

function affinity(spec: Part): FieldError[] {
  const errors = oneOf(spec.sessionAffinity, ['ClientIP', 'None'], 'spec.sessionAffinity');
  const path = 'spec.sessionAffinityConfig';
  const config = spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'None' && config) errors.push(fieldForbidden(path, 'must not be set when session affinity is None'));
  if (spec.sessionAffinity !== 'ClientIP') return errors;
  const words = 'when session affinity type is ClientIP';
  if (!config) return [...errors, required(path, words)];
  if (!config.clientIP) return [...errors, required(`${path}.clientIP`, words)];
  const seconds = config.clientIP.timeoutSeconds;
  const at = `${path}.clientIP.timeoutSeconds`;
  if (seconds === undefined) return [...errors, required(at, words)];
  if (seconds <= 0 || seconds > maxAffinitySeconds)
    errors.push(invalid(at, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`));
  return errors;
}

export function validateClusterIps(spec: Part, old?: Part): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const errors: FieldError[] = [];
  const ips: string[] = list(spec.clusterIPs);
  const families: string[] = list(spec.ipFamilies);
  const path = 'spec.clusterIPs';
  if (spec.clusterIP) {
    if (!ips.length) errors.push(required(path));
    else if (ips[0] !== spec.clusterIP) errors.push(invalid(path, ips, 'first value must match `clusterIP`'));
  } else if (ips.length) errors.push(invalid(path, ips, 'must be empty when `clusterIP` is not specified'));
  const seen = new Set<string>();
  for (const [index, family] of families.entries()) {
    const at = `spec.ipFamilies[${index}]`;
    errors.push(...oneOf(family, ['IPv4', 'IPv6'], at, true));
    if (seen.has(family)) errors.push(duplicate(at, family));
    seen.add(family);
  }
  if (spec.ipFamilyPolicy !== undefined)
    errors.push(...oneOf(spec.ipFamilyPolicy, ['PreferDualStack', 'RequireDualStack', 'SingleStack'], 'spec.ipFamilyPolicy', true));
  let readable = true;
  for (const [index, ip] of ips.entries()) {
    if (index === 0 && ip === 'None') {
      if (ips.length > 1) {
        readable = false;
        errors.push(invalid(path, ips, "'None' must be the first and only value"));
      }
      continue;
    }
    const wrong = legacyIp(ip, `${path}[${index}]`, old?.clusterIPs);
    if (wrong.length) readable = false;
    errors.push(...wrong);
  }
  if (ips.length > 2) errors.push(invalid(path, ips, 'may only hold up to 2 values'));
  if (!readable) return errors;
  if (ips.length > 1 && new Set(ips.map(ipFamily)).size === 1)
    errors.push(invalid(path, ips, 'may specify no more than one IP for each IP family'));
  if (!isHeadless(spec))
    for (const [index, ip] of ips.slice(0, families.length).entries())
      if ((families[index] === 'IPv4' || families[index] === 'IPv6') && families[index] !== ipFamily(ip))
        errors.push(invalid(`${path}[${index}]`, ip, `expected an ${families[index]} value as indicated by \`ipFamilies[${index}]\``));
  return errors;
}

/** A port in an error stands with the fields of the reference's own representation. */
const portKey = (protocol: string, number: number): Part => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: number,
  TargetPort: 0,
  NodePort: 0,
});

function nodePorts(spec: Part): FieldError[] {
  const errors: FieldError[] = [];
  const all = list(spec.ports);
  if (spec.type === 'ClusterIP')
    for (const [index, {nodePort}] of all.entries())
      if (nodePort) errors.push(fieldForbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
  const taken = new Set<string>();
  for (const [index, {protocol = '', nodePort}] of all.entries()) {
    if (!nodePort) continue;
    const key = `${protocol} ${nodePort}`;
    if (taken.has(key)) errors.push(duplicate(`spec.ports[${index}].nodePort`, nodePort));
    taken.add(key);
  }
  const seen = new Set<string>();
  for (const [index, {protocol = '', port: number = 0}] of all.entries()) {
    const key = `${protocol} ${number}`;
    if (seen.has(key)) errors.push(duplicate(`spec.ports[${index}]`, portKey(protocol, number)));
    seen.add(key);
  }
  return errors;
}

function balancer({metadata, spec = {}}: KubeObject, old?: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const words = "may only be used when `type` is 'LoadBalancer'";
  const isBalancer = spec.type === 'LoadBalancer';
  const annotation = metadata.annotations?.[sourceRanges];
  const cidrs = (values: string[], at: (index: number) => string, stored: string[] = []): void => {
    for (const [index, value] of values.map((text) => text.trim()).entries())
      if (!stored.includes(value)) errors.push(...problems(at(index), value, legacyCidrProblems(value)));
  };
  if (list(spec.loadBalancerSourceRanges).length) {
    const path = 'spec.LoadBalancerSourceRanges';
    if (!isBalancer) errors.push(fieldForbidden(path, words));
    cidrs(
      spec.loadBalancerSourceRanges,
      (index) => `${path}[${index}]`,
      list(old?.spec?.loadBalancerSourceRanges).map((text: string) => text.trim()),
    );
  } else if (annotation !== undefined) {
    const path = `metadata.annotations[${sourceRanges}]`;
    if (!isBalancer) errors.push(fieldForbidden(path, words));
    if (annotation.trim() && old?.metadata.annotations?.[sourceRanges] !== annotation) cidrs(annotation.split(','), () => path);
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isBalancer)
    errors.push(fieldForbidden('spec.allocateLoadBalancerNodePorts', words));
  if (spec.allocateLoadBalancerNodePorts === undefined && isBalancer) errors.push(required('allocateLoadBalancerNodePorts'));
  return [...errors, ...balancerClass(spec)];
}

const balancerClass = (spec: Part): FieldError[] => {
  const path = 'spec.loadBalancerClass';
  if (spec.loadBalancerClass === undefined) return [];
  return spec.type === 'LoadBalancer'
    ? qualified(spec.loadBalancerClass, path)
    : [fieldForbidden(path, "may only be used when `type` is 'LoadBalancer'")];
};

const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function policies(spec: Part): FieldError[] {
  const errors: FieldError[] = [];
  const {externalTrafficPolicy: external, internalTrafficPolicy: internal, healthCheckNodePort: health} = spec;
  if (isReachable(spec)) errors.push(...oneOf(external, ['Cluster', 'Local'], 'spec.externalTrafficPolicy'));
  else if (external) errors.push(invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'));
  const at = 'spec.healthCheckNodePort';
  if (needsHealthCheck(spec)) errors.push(...(health ? port(health, at) : [required(at)]));
  else if (health) errors.push(invalid(at, health, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"));
  if (internal === undefined) {
    if (usesNodePorts(spec) || spec.type === 'ClusterIP') errors.push(required('spec.internalTrafficPolicy'));
  } else errors.push(...oneOf(internal, ['Cluster', 'Local'], 'spec.internalTrafficPolicy', true));
  const {trafficDistribution: distribution} = spec;
  if (distribution !== undefined && !distributions.includes(distribution))
    errors.push(notSupported('spec.trafficDistribution', distribution, distributions));
  return errors;
}

export function validateServiceUpdate(object: KubeObject, old: KubeObject, subresource: string): FieldError[] {
  if (subresource === 'status') return validateBalancerStatus(object, old);
  const [spec, before] = [object.spec ?? {}, old.spec ?? {}];
  const errors = [...changedClusterIps(spec, before), ...changedFamilies(spec, before)];
  if (spec.type === 'LoadBalancer' && before.type === 'LoadBalancer' && spec.loadBalancerClass !== before.loadBalancerClass)
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass ?? null, 'may not change once set'));
  errors.push(...balancerClass(spec));
  if (needsHealthCheck(spec) && needsHealthCheck(before) && spec.healthCheckNodePort !== before.healthCheckNodePort)
    errors.push(fieldForbidden('spec.healthCheckNodePort', immutable));
  return [...errors, ...validateService(object, old)];
}

const once = 'may not change once set';

function changedClusterIps(spec: Part, old: Part): FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || (isHeadless(spec) && isHeadless(old))) return [];
  const errors: FieldError[] = [];
  const [ips, before]: [string[], string[]] = [list(spec.clusterIPs), list(old.clusterIPs)];
  const path = 'spec.clusterIPs';
  if (before.length === ips.length) {
    for (const [index, ip] of before.entries()) if (ip !== ips[index]) errors.push(invalid(`${path}[${index}]`, ips, once));
    return errors;
  }
  if (before.length > ips.length && !ips.length) errors.push(invalid(`${path}[0]`, ips, 'primary clusterIP can not be unset'));
  if (before.length && ips.length && ips[0] !== before[0]) errors.push(invalid(`${path}[0]`, ips, once));
  if (before.length > ips.length && ips.length === 1 && spec.ipFamilyPolicy !== 'SingleStack')
    errors.push(
      invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy ?? null, "must be set to 'SingleStack' when releasing the secondary clusterIP"),
    );
  return errors;
}

function changedFamilies(spec: Part, old: Part): FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || isHeadless(spec) || isHeadless(old)) return [];
  const errors: FieldError[] = [];
  const [families, before]: [string[], string[]] = [list(spec.ipFamilies), list(old.ipFamilies)];
  const path = 'spec.ipFamilies[0]';
  if (before.length === families.length) {
    for (const [index, family] of before.entries()) if (family !== families[index]) errors.push(invalid(path, families, once));
    return errors;
  }
  if (before.length > families.length && !list(spec.clusterIPs).length)
    errors.push(invalid(path, families, 'primary ipFamily can not be unset'));
  if (before.length && families.length && families[0] !== before[0]) errors.push(invalid(path, list(spec.clusterIPs), once));
  if (before.length > families.length && families.length === 1 && spec.ipFamilyPolicy !== 'SingleStack')
    errors.push(
      invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy ?? null, "must be set to 'SingleStack' when releasing the secondary ipFamily"),
    );
  return errors;
}

function validateBalancerStatus({spec, status}: KubeObject, old: KubeObject): FieldError[] {
  const path = 'status.loadBalancer.ingress';
  const given = list(status?.loadBalancer?.ingress);
  if (spec?.type !== 'LoadBalancer' && given.length) return [fieldForbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  const stored = list(old.status?.loadBalancer?.ingress).map(({ip}) => ip);
  return given.flatMap(({ip, ipMode, hostname}, index) => {
    const at = `${path}[${index}]`;
    const errors = ip ? legacyIp(ip, `${at}.ip`, stored) : [];
    if (ipMode === undefined) {
      if (ip) errors.push(required(`${at}.ipMode`, 'must be specified when `ip` is set'));
    } else if (!ip) errors.push(fieldForbidden(`${at}.ipMode`, 'may not be specified when `ip` is not set'));
    else errors.push(...oneOf(ipMode, ['Proxy', 'VIP'], `${at}.ipMode`, true));
    if (!hostname) return errors;
    errors.push(...subdomain(hostname, `${at}.hostname`));
    if (parseIp(hostname, true)) errors.push(invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address'));
    return errors;
  });
}
