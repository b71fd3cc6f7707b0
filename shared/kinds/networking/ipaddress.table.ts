/** IP addresses in a table. Rows have an age that no column names: so the reference has it. */
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {type KindTable, name, text} from '../common/columns.table.ts';
import type {Part} from '../common/loose.ts';

export const ipAddressTable: KindTable = {
  columns: [name, text('ParentRef', 'Object that uses the address.')],
  cells: (object, now) => [nameOf(object), parentText(object.spec?.parentRef), ageOf(object, now)],
};

function parentText(parent: Part): string {
  if (!parent) return none;
  const resource = (parent.group ? `${parent.resource}.${parent.group}` : (parent.resource ?? '')).toLowerCase();
  return [resource, ...(parent.namespace ? [parent.namespace] : []), parent.name ?? ''].join('/');
}
