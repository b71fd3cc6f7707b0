/** API services in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const apiServiceTable: KindTable = {
  columns: [
    name,
    text('Service', 'Service that serves the version, or this server itself.'),
    text('Available', 'Whether it can be reached.'),
    age,
  ],
  cells(object, now) {
    const {service} = object.spec ?? {};
    return [
      nameOf(object),
      service ? `${service.namespace ?? ''}/${service.name ?? ''}` : 'Local',
      availability(object),
      ageOf(object, now),
    ];
  },
  quirks: {repeatsColumns: true},
};

function availability({status}: KubeObject): string {
  const condition = list(status?.conditions).find(({type}) => type === 'Available');
  if (!condition) return 'Unknown';
  return condition.status !== 'True' && condition.reason ? `${condition.status} (${condition.reason})` : condition.status;
}
