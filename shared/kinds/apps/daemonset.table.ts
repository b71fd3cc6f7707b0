/** Daemon sets in a table. */
import {ageOf, containerImages, containerNames, labelsText, nameOf, selectorOrNone} from '../common/cells.table.ts';
import {age, containers, images, integer, type KindTable, name, selector, text} from '../common/columns.table.ts';

export const daemonSetTable: KindTable = {
  columns: [
    name,
    integer('Desired', 'Nodes that should run a pod.'),
    integer('Current', 'Nodes that run one.'),
    integer('Ready', 'Nodes whose pod is ready.'),
    integer('Up-to-date', 'Nodes whose pod has the newest template.'),
    integer('Available', 'Nodes whose pod has been ready for long enough.'),
    text('Node Selector', 'Labels of the nodes that should run a pod.'),
    age,
    containers,
    images,
    selector,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    const pods = spec.template?.spec;
    return [
      nameOf(object),
      status.desiredNumberScheduled ?? 0,
      status.currentNumberScheduled ?? 0,
      status.numberReady ?? 0,
      status.updatedNumberScheduled ?? 0,
      status.numberAvailable ?? 0,
      labelsText(pods?.nodeSelector),
      ageOf(object, now),
      containerNames(pods),
      containerImages(pods),
      selectorOrNone(spec.selector),
    ];
  },
};
