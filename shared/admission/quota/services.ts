/** Services: their number, and what of the outside world they take. Ports on nodes are counted by intent: they are not allocated yet. */
import {list} from '../../kinds/common/loose.ts';
import type {KubeObject} from '../../object.ts';
import {type Evaluator, onWrite} from './evaluator.ts';

const measured = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);

export const serviceEvaluator: Evaluator = {
  handles: onWrite,
  measures: (name) => measured.has(name),
  usage: (service) => ({
    'count/services': '1',
    services: '1',
    'services.loadbalancers': service.spec?.type === 'LoadBalancer' ? '1' : '0',
    'services.nodeports': String(nodePorts(service)),
  }),
};

function nodePorts({spec}: KubeObject): number {
  const ports = list(spec?.ports);
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false ? ports.filter(({nodePort}) => nodePort).length : ports.length;
}
