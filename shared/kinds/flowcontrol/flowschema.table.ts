/** Flow schemas in a table, in the order in which requests are matched. */
import type {KubeObject} from '../../object.ts';
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const flowSchemaTable: KindTable = {
  columns: [
    name,
    text('PriorityLevel', 'Priority level of its requests.'),
    text('MatchingPrecedence', 'The lowest that matches a request wins.'),
    text('DistinguisherMethod', 'What tells its flows apart.'),
    age,
    text('MissingPL', 'Whether its priority level does not exist.'),
  ],
  cells(object, now) {
    const {spec = {}, status} = object;
    return [
      nameOf(object),
      spec.priorityLevelConfiguration?.name ?? '',
      precedence(object),
      spec.distinguisherMethod ? (spec.distinguisherMethod.type ?? '') : none,
      ageOf(object, now),
      list(status?.conditions).find(({type}) => type === 'Dangling')?.status ?? '?',
    ];
  },
  order: (a, b) => precedence(a) - precedence(b) || (nameOf(a) < nameOf(b) ? -1 : 1),
};

const precedence = (object: KubeObject): number => object.spec?.matchingPrecedence ?? 0;
