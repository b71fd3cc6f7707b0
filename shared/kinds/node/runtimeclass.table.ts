/** Runtime classes in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const runtimeClassTable: KindTable = {
  columns: [name, text('Handler', 'Handler of the container runtime.'), age],
  cells: (object, now) => [nameOf(object), object.handler ?? '', ageOf(object, now)],
};
