/** Pod disruption budgets in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, integer, type KindTable, name, text} from '../common/columns.table.ts';

export const podDisruptionBudgetTable: KindTable = {
  columns: [
    name,
    text('Min Available', 'Pods, or percent of them, that must stay.'),
    text('Max Unavailable', 'Pods, or percent of them, that may be missing.'),
    integer('Allowed Disruptions', 'Pods that may be evicted now.'),
    age,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      String(spec.minAvailable ?? 'N/A'),
      String(spec.maxUnavailable ?? 'N/A'),
      status.disruptionsAllowed ?? 0,
      ageOf(object, now),
    ];
  },
};
