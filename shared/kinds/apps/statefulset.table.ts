/** Stateful sets in a table. */
import {ageOf, containerImages, containerNames, nameOf} from '../common/cells.table.ts';
import {age, containers, images, type KindTable, name, text} from '../common/columns.table.ts';

export const statefulSetTable: KindTable = {
  columns: [name, text('Ready', 'Pods that are ready, of those wanted.'), age, containers, images],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      ageOf(object, now),
      containerNames(spec.template?.spec),
      containerImages(spec.template?.spec),
    ];
  },
};
