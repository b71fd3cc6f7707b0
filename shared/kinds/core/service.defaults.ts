/** A service: its type decides which policies it has. */
import {type Defaults, fill, isEmptyList} from '../common/defaulter.ts';
import {list, type Part} from '../common/loose.ts';

/** Three hours. */
const clientIpAffinitySeconds = 10_800;

const isReachableFromOutside = (spec: Part): boolean =>
  spec.type === 'LoadBalancer' || spec.type === 'NodePort' || (spec.type === 'ClusterIP' && !isEmptyList(spec.externalIPs));

export const serviceDefaults: Defaults = {
  'core/v1.Service': ({spec, status}) => {
    affinity(spec);
    fill(spec, 'type', 'ClusterIP');
    const {type} = spec;
    if (isReachableFromOutside(spec)) fill(spec, 'externalTrafficPolicy', 'Cluster');
    if (type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer') spec.internalTrafficPolicy ??= 'Cluster';
    if (type === 'LoadBalancer') {
      spec.allocateLoadBalancerNodePorts ??= true;
      for (const ingress of list(status?.loadBalancer?.ingress)) if (ingress.ip) ingress.ipMode ??= 'VIP';
    }
  },
  'core/v1.ServicePort': (port) => {
    fill(port, 'protocol', 'TCP');
    if (!port.targetPort) port.targetPort = port.port;
  },
};

function affinity(spec: Part): void {
  fill(spec, 'sessionAffinity', 'None');
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  else if (spec.sessionAffinity === 'ClientIP')
    if (typeof spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== 'number')
      spec.sessionAffinityConfig = {clientIP: {timeoutSeconds: clientIpAffinitySeconds}};
}
