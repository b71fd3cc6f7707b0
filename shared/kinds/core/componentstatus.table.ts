/** Component statuses in a table. */
import {nameOf} from '../common/cells.table.ts';
import {type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

export const componentStatusTable: KindTable = {
  columns: [
    name,
    text('Status', 'Health of the component.'),
    text('Message', 'What it says of its health.'),
    text('Error', 'Why its health is not known.'),
  ],
  cells(object) {
    const healthy = list(object.conditions).find(({type}) => type === 'Healthy');
    const status = !healthy ? 'Unknown' : healthy.status === 'True' ? 'Healthy' : 'Unhealthy';
    return [nameOf(object), status, healthy?.message ?? '', healthy?.error ?? ''];
  },
};
