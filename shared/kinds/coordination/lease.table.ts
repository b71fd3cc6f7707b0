/** Leases in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const leaseTable: KindTable = {
  columns: [name, text('Holder', 'Who holds it.'), age],
  cells: (object, now) => [nameOf(object), object.spec?.holderIdentity ?? '', ageOf(object, now)],
};
