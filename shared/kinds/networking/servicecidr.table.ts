/** Service CIDRs in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const serviceCIDRTable: KindTable = {
  columns: [name, text('CIDRs', 'Blocks of addresses.'), age],
  cells: (object, now) => [nameOf(object), list(object.spec?.cidrs).join(','), ageOf(object, now)],
};
