/** Service accounts in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name} from '../common/columns.table.ts';

export const serviceAccountTable: KindTable = {
  columns: [name, age],
  cells: (object, now) => [nameOf(object), ageOf(object, now)],
};
