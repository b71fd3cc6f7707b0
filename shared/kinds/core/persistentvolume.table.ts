/** Persistent volumes in a table. */
import {accessModes, ageOf, nameOf, quantity, storageClassOf, unset} from '../common/cells.table.ts';
import {age, type KindTable, name, text, wide} from '../common/columns.table.ts';

export const persistentVolumeTable: KindTable = {
  columns: [
    name,
    text('Capacity', 'Size of the volume.'),
    text('Access Modes', 'Ways in which it can be mounted.'),
    text('Reclaim Policy', 'What happens to it when its claim is gone.'),
    text('Status', 'Whether it is free, bound or released.'),
    text('Claim', 'Claim that it is bound to.'),
    text('StorageClass', 'Class that it belongs to.'),
    text('VolumeAttributesClass', 'Class of its changeable attributes.'),
    text('Reason', 'Why it is in this state.'),
    age,
    wide(text('VolumeMode', 'File system or raw block device.')),
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    return [
      nameOf(object),
      quantity(spec.capacity?.storage),
      accessModes(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? '',
      object.metadata.deletionTimestamp ? 'Terminating' : (status.phase ?? ''),
      spec.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
      storageClassOf(object),
      spec.volumeAttributesClassName ?? unset,
      status.reason ?? '',
      ageOf(object, now),
      spec.volumeMode ?? unset,
    ];
  },
};
