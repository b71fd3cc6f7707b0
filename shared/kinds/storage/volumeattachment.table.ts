/** Volume attachments in a table. */
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, boolean, type KindTable, name, text} from '../common/columns.table.ts';

export const volumeAttachmentTable: KindTable = {
  columns: [
    name,
    text('Attacher', 'Driver that attaches.', 'name'),
    text('PV', 'Volume to attach.'),
    text('Node', 'Node to attach it to.'),
    boolean('Attached', 'Whether it is attached.'),
    age,
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      spec.attacher ?? '',
      spec.source?.persistentVolumeName ?? '',
      spec.nodeName ?? '',
      status.attached ?? false,
      ageOf(object, now),
    ];
  },
};
