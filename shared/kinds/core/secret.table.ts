/** Secrets in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {entries} from '../common/loose.ts';

export const secretTable: KindTable = {
  columns: [name, text('Type', 'What the secret is for.'), text('Data', 'Number of keys.'), age],
  cells: (object, now) => [nameOf(object), object.type ?? '', entries(object.data).length, ageOf(object, now)],
};
