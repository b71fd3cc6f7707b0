/** A service: one address for a set of pods. Its fields hang together by type, so that a change of type clears what no longer applies. */
import type {JsonObject, KubeObject} from '../../object.ts';
import {sameJson} from '../common/equal.ts';
import {ipWarnings} from '../common/ip.ts';
import {list} from '../common/loose.ts';
import {define} from '../define.ts';
import {validateService, validateServiceUpdate} from './service.validate.ts';

interface Port extends JsonObject {
  port: number;
}

export const service = define({
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  validate: (object) => validateService(object),
  validateUpdate: (object, old, {subresource}) => validateServiceUpdate(object, old, subresource),
  name: 'dns1123Label',
  // Upstream says so, but a service without its addresses cannot be put; see registry/allocators.
  allowCreateOnUpdate: true,
  deleteReturnsObject: true,
  newStatus: () => ({loadBalancer: {}}),
  prepareForCreate: normalizeClusterIps,
  prepareForUpdate(object, old, {subresource}) {
    if (subresource !== '') return;
    patchClusterIps(object, old);
    dropDependentFields(object, old);
  },
  selectableFields: ({spec}) => ({'spec.clusterIP': spec?.clusterIP ?? '', 'spec.type': spec?.type ?? ''}),
});

/** The singular field leads on create: the plural follows it. */
function normalizeClusterIps({spec}: KubeObject): void {
  if (spec?.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
}

/** On update a client that knows only the singular field must still be able to change, or clear, both. */
function patchClusterIps({spec}: KubeObject, {spec: old}: KubeObject): void {
  if (!spec) return;
  const sameSingle = (spec.clusterIP ?? '') === (old?.clusterIP ?? '');
  const samePlural = sameJson(spec.clusterIPs, old?.clusterIPs);
  if (!sameSingle && samePlural) {
    if (!spec.clusterIP) delete spec.clusterIPs;
    else spec.clusterIPs = [spec.clusterIP];
  }
}

const usesNodePorts = (spec: JsonObject): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';
const usesHealthPort = (spec: JsonObject): boolean => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
const isReachable = (spec: JsonObject): boolean =>
  usesNodePorts(spec) || (spec.type === 'ClusterIP' && ((spec.externalIPs as unknown[]) ?? []).length > 0);

/** Only values that the client left as they were: one that it changed must fail in validation instead. */
function dropDependentFields(object: KubeObject, stored: KubeObject): void {
  const spec: JsonObject = object.spec ?? {};
  const old: JsonObject = stored.spec ?? {};
  const drop = (...fields: string[]): void => {
    for (const field of fields) delete spec[field];
  };
  const same = (field: string): boolean => sameJson(spec[field], old[field]);
  if (old.type !== 'ExternalName' && spec.type === 'ExternalName') {
    if (same('clusterIP') && same('clusterIPs')) drop('clusterIP', 'clusterIPs');
    if (same('ipFamilies')) drop('ipFamilies');
    if (same('ipFamilyPolicy')) drop('ipFamilyPolicy');
  }
  const ports = (spec.ports ?? []) as Port[];
  const before = new Set(((old.ports ?? []) as Port[]).map((port) => port.nodePort));
  if (usesNodePorts(old) && !usesNodePorts(spec) && ports.every((port) => !port.nodePort || before.has(port.nodePort)))
    for (const port of ports) delete port.nodePort;
  if (usesHealthPort(old) && !usesHealthPort(spec) && same('healthCheckNodePort')) drop('healthCheckNodePort');
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (same('allocateLoadBalancerNodePorts')) drop('allocateLoadBalancerNodePorts');
    if (same('loadBalancerClass')) drop('loadBalancerClass');
  }
  if (isReachable(old) && !isReachable(spec) && same('externalTrafficPolicy')) drop('externalTrafficPolicy');
  if (spec.type !== 'LoadBalancer') object.status = {...object.status, loadBalancer: {}};
}

function warnings({metadata, spec}: KubeObject): string[] {
  const texts: string[] = [];
  const addresses = (field: string): string[] =>
    list(spec?.[field]).flatMap((ip: string, index) => ipWarnings(`spec.${field}[${index}]`, ip));
  const headless = spec?.type === 'ClusterIP' && spec.clusterIP === 'None';
  const named = spec?.type === 'ExternalName';
  const external = list(spec?.externalIPs).length > 0;
  if (metadata.annotations?.['service.kubernetes.io/topology-aware-hints'] !== undefined)
    texts.push(
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    );
  if (spec?.clusterIP && spec.clusterIP !== 'None') texts.push(...addresses('clusterIPs'));
  if (headless) {
    if (spec.loadBalancerIP) texts.push('spec.loadBalancerIP is ignored for headless services');
    if (external) texts.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity !== 'None') texts.push('spec.SessionAffinity is ignored for headless services');
  }
  texts.push(...addresses('externalIPs'));
  if (external && !headless && !named) texts.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (spec?.loadBalancerIP) texts.push(...ipWarnings('spec.loadBalancerIP', spec.loadBalancerIP));
  if (named && external) texts.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!named && spec?.externalName) texts.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec?.trafficDistribution === 'PreferClose')
    texts.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return texts;
}
