/** Resource quotas in a table: what is used of what may be, limits in a column of their own. */
import {ageOf, byKey, nameOf, quantity} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {entries} from '../common/loose.ts';

export const resourceQuotaTable: KindTable = {
  columns: [name, text('Request', 'Use and bound of all but limits.'), text('Limit', 'Use and bound of limits.'), age],
  cells(object, now) {
    const {hard, used} = object.status ?? {};
    const requests: string[] = [];
    const limits: string[] = [];
    for (const [resource, bound] of entries(hard).sort(byKey))
      (resource.startsWith('limits.') ? limits : requests).push(`${resource}: ${quantity(used?.[resource])}/${quantity(bound)}`);
    return [nameOf(object), requests.join(', '), limits.join(', '), ageOf(object, now)];
  },
};
