/** Network policies in a table. */
import {ageOf, nameOf, selectorOrNone} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const networkPolicyTable: KindTable = {
  columns: [name, text('Pod-Selector', 'Pods that it holds for.'), age],
  cells: (object, now) => [nameOf(object), selectorOrNone(object.spec?.podSelector), ageOf(object, now)],
};
