/** Namespaces in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const namespaceTable: KindTable = {
  columns: [name, text('Status', 'Phase of the namespace.'), age],
  cells: (object, now) => [nameOf(object), object.status?.phase ?? '', ageOf(object, now)],
};
