/** Priority classes in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, boolean, integer, type KindTable, name, text} from '../common/columns.table.ts';

export const priorityClassTable: KindTable = {
  columns: [
    name,
    integer('Value', 'Priority of the pods of the class.'),
    boolean('Global-Default', 'Whether pods without a class get it.'),
    age,
    text('PreemptionPolicy', 'Whether its pods may push others out.'),
  ],
  cells: (object, now) => [
    nameOf(object),
    object.value ?? 0,
    object.globalDefault ?? false,
    ageOf(object, now),
    object.preemptionPolicy ?? '',
  ],
};
