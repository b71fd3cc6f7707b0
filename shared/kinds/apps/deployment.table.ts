/** Deployments in a table. */
import {ageOf, containerImages, containerNames, nameOf, selectorText} from '../common/cells.table.ts';
import {age, containers, images, type KindTable, name, selector, text} from '../common/columns.table.ts';

export const deploymentTable: KindTable = {
  columns: [
    name,
    text('Ready', 'Pods that are ready, of those wanted.'),
    text('Up-to-date', 'Pods that have the newest template.'),
    text('Available', 'Pods that have been ready for long enough.'),
    age,
    containers,
    images,
    selector,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      ageOf(object, now),
      containerNames(spec.template?.spec),
      containerImages(spec.template?.spec),
      selectorText(spec.selector) ?? '<invalid>',
    ];
  },
};
