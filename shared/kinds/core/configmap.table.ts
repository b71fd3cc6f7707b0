/** Config maps in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {entries} from '../common/loose.ts';

export const configMapTable: KindTable = {
  columns: [name, text('Data', 'Number of keys, text and binary.'), age],
  cells: (object, now) => [nameOf(object), entries(object.data).length + entries(object.binaryData).length, ageOf(object, now)],
};
