/** Replication controllers in a table. */
import {ageOf, containerImages, containerNames, labelsText, nameOf} from '../common/cells.table.ts';
import {age, containers, images, integer, type KindTable, name, selector} from '../common/columns.table.ts';

export const replicationControllerTable: KindTable = {
  columns: [
    name,
    integer('Desired', 'Pods that are wanted.'),
    integer('Current', 'Pods that exist.'),
    integer('Ready', 'Pods that are ready.'),
    age,
    containers,
    images,
    selector,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      spec.replicas ?? 0,
      status.replicas ?? 0,
      status.readyReplicas ?? 0,
      ageOf(object, now),
      containerNames(spec.template?.spec),
      containerImages(spec.template?.spec),
      labelsText(spec.selector),
    ];
  },
};
