/** Priority levels in a table. */
import {ageOf, nameOf, none} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const priorityLevelConfigurationTable: KindTable = {
  columns: [
    name,
    text('Type', 'Whether its requests are limited.'),
    text('NominalConcurrencyShares', 'Its share of all that run at a time.'),
    text('Queues', 'Number of its queues.'),
    text('HandSize', 'Queues that a flow may use.'),
    text('QueueLengthLimit', 'Requests that may wait in a queue.'),
    age,
  ],
  cells(object, now) {
    const {limited, type} = object.spec ?? {};
    const queuing = limited?.limitResponse?.queuing;
    return [
      nameOf(object),
      type ?? '',
      limited ? (limited.nominalConcurrencyShares ?? 0) : none,
      queuing ? (queuing.queues ?? 0) : none,
      queuing ? (queuing.handSize ?? 0) : none,
      queuing ? (queuing.queueLengthLimit ?? 0) : none,
      ageOf(object, now),
    ];
  },
};
