/** Services in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, labelsText, loadBalancerText, nameOf, none, unknown} from '../common/cells.table.ts';
import {age, type KindTable, name, text, wide} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const serviceTable: KindTable = {
  columns: [
    name,
    text('Type', 'How the service is reached.'),
    text('Cluster-IP', 'Address within the cluster.'),
    text('External-IP', 'Addresses outside of the cluster.'),
    text('Port(s)', 'Ports, with node ports where there are any.'),
    age,
    wide(text('Selector', 'Labels of the pods that serve.')),
  ],
  cells(object, now) {
    const {spec = {}} = object;
    return [
      nameOf(object),
      spec.type ?? '',
      spec.clusterIPs?.[0] ?? none,
      externalIps(object),
      list(spec.ports).map(portText).join(',') || none,
      ageOf(object, now),
      labelsText(spec.selector),
    ];
  },
};

function externalIps({spec = {}, status}: KubeObject): string {
  const named = list(spec.externalIPs);
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return named.join(',') || none;
    case 'LoadBalancer':
      return [loadBalancerText(status), ...named].filter((addresses) => addresses !== '').join(',') || '<pending>';
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return unknown;
  }
}

const portText = ({port, nodePort, protocol}: Part): string => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? ''}`;
