/** What nodes and pods use, in a table. */
import {addQuantity} from '../../schema/quantity.ts';
import {nameOf} from '../common/cells.table.ts';
import {type KindTable, name, text} from '../common/columns.table.ts';
import {list} from '../common/loose.ts';

const columns = [name, text('cpu', '', 'quantity'), text('memory', '', 'quantity'), text('Window', '', 'duration')];

export const nodeMetricsTable: KindTable = {
  columns,
  cells: (object) => [nameOf(object), object.usage?.cpu ?? '0', object.usage?.memory ?? '0', object.window ?? ''],
};

/** The sum of the containers. */
export const podMetricsTable: KindTable = {
  columns,
  cells(object) {
    const sum = (resource: string): string =>
      list(object.containers).reduce((total: string, {usage}) => addQuantity(total, usage?.[resource] ?? '0'), '0');
    return [nameOf(object), sum('cpu'), sum('memory'), object.window ?? ''];
  },
};
