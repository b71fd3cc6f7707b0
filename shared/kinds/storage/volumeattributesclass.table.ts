/** Volume attributes classes in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const volumeAttributesClassTable: KindTable = {
  columns: [name, text('DriverName', 'Driver whose volumes have the attributes.'), age],
  cells: (object, now) => [nameOf(object), object.driverName ?? '', ageOf(object, now)],
};
