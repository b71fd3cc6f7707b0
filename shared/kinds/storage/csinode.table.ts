/** CSI nodes in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, integer, type KindTable, name} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const csiNodeTable: KindTable = {
  columns: [name, integer('Drivers', 'Drivers on the node.'), age],
  cells: (object, now) => [nameOf(object), list(object.spec?.drivers).length, ageOf(object, now)],
};
