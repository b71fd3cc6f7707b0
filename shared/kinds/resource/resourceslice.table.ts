/** Resource slices in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const resourceSliceTable: KindTable = {
  columns: [
    name,
    text('Node', 'Node that the devices are on.'),
    text('Driver', 'Driver that offers the devices.'),
    text('Pool', 'Pool that the slice is a part of.'),
    age,
  ],
  cells(object, now) {
    const {nodeName, driver, pool} = object.spec ?? {};
    return [nameOf(object), nodeName ?? '', driver ?? '', pool?.name ?? '', ageOf(object, now)];
  },
};
