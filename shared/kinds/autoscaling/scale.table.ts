/** A scale in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, integer, type KindTable, text} from '../common/columns.table.ts';

export const scaleTable: KindTable = {
  columns: [
    text('Name', 'Name of the object.'),
    integer('Desired', 'Pods that are wanted.'),
    integer('Available', 'Pods that exist.'),
    age,
  ],
  cells: (object, now) => [nameOf(object), object.spec?.replicas ?? 0, object.status?.replicas ?? 0, ageOf(object, now)],
};
