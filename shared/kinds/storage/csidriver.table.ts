/** CSI drivers in a table. */
import {ageOf, nameOf, none, unset} from '../common/cells.table.ts';
import {age, boolean, type KindTable, name, text} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const csiDriverTable: KindTable = {
  columns: [
    name,
    boolean('AttachRequired', 'Whether volumes are attached before they are mounted.'),
    boolean('PodInfoOnMount', 'Whether the driver hears of the pod.'),
    boolean('StorageCapacity', 'Whether the scheduler asks for room.'),
    text('TokenRequests', 'Audiences of the tokens that the driver gets.'),
    boolean('RequiresRepublish', 'Whether the driver is called again and again.'),
    text('Modes', 'Life cycles of volumes that it supports.'),
    age,
  ],
  cells(object, now) {
    const {spec = {}} = object;
    return [
      nameOf(object),
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests?.length ? spec.tokenRequests.map(({audience}: Part) => audience ?? '').join(',') : unset,
      spec.requiresRepublish ?? false,
      list(spec.volumeLifecycleModes).join(',') || none,
      ageOf(object, now),
    ];
  },
};
