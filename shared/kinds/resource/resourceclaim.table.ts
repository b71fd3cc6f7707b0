/** Resource claims in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const resourceClaimTable: KindTable = {
  columns: [name, text('State', 'How far it is: pending, allocated, reserved, deleted.'), age],
  cells: (object, now) => [nameOf(object), state(object), ageOf(object, now)],
};

function state({metadata, status}: KubeObject): string {
  const states = metadata.deletionTimestamp ? ['deleted'] : [];
  if (status?.allocation) states.push('allocated', ...(list(status.reservedFor).length ? ['reserved'] : []));
  else if (states.length === 0) states.push('pending');
  return states.join(',');
}
