/** Ingresses in a table. */
import {ageOf, loadBalancerText, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const ingressTable: KindTable = {
  columns: [
    name,
    text('Class', 'Class whose controller implements it.'),
    text('Hosts', 'Hosts that it serves.'),
    text('Address', 'Addresses at which it is reached.'),
    text('Ports', 'Ports at which it is reached.'),
    age,
  ],
  cells(object, now) {
    const {spec = {}} = object;
    return [
      nameOf(object),
      spec.ingressClassName ?? none,
      hosts(list(spec.rules)),
      loadBalancerText(object.status),
      list(spec.tls).length ? '80, 443' : '80',
      ageOf(object, now),
    ];
  },
};

const maxHosts = 3;

/** Rules without a host are counted, but not shown. */
function hosts(rules: Part[]): string {
  const shown: string[] = [];
  let isMore = false;
  for (const {host} of rules) {
    if (shown.length === maxHosts) isMore = true;
    else if (host) shown.push(host);
  }
  if (shown.length === 0) return '*';
  return isMore ? `${shown.join(',')} + ${rules.length - maxHosts} more...` : shown.join(',');
}
