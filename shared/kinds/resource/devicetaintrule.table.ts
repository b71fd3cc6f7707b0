/** Device taint rules in a table: the taint, not what it is applied to. */
import {ageOf, nameOf, since} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const deviceTaintRuleTable: KindTable = {
  columns: [
    name,
    text('Key', 'Key of the taint.'),
    text('Value', 'Value of the taint.'),
    text('Effect', 'What the taint does to pods.'),
    text('TimeAdded', 'Time since the taint holds.'),
    age,
  ],
  cells(object, now) {
    const taint = object.spec?.taint ?? {};
    return [
      nameOf(object),
      taint.key ?? '',
      taint.value ?? '',
      taint.effect ?? '',
      taint.timeAdded ? since(taint.timeAdded, now) : '',
      ageOf(object, now),
    ];
  },
};
