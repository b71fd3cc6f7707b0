/** Persistent volume claims in a table. What a claim got is shown once it names a volume. */
import {accessModes, ageOf, nameOf, quantity, storageClassOf, unset} from '../common/cells.table.ts';
import {age, type KindTable, name, text, wide} from '../common/columns.table.ts';

export const persistentVolumeClaimTable: KindTable = {
  columns: [
    name,
    text('Status', 'Whether it is bound.'),
    text('Volume', 'Volume that it is bound to.'),
    text('Capacity', 'Size of the volume.'),
    text('Access Modes', 'Ways in which the volume can be mounted.'),
    text('StorageClass', 'Class that is asked for.'),
    text('VolumeAttributesClass', 'Class of changeable attributes that is asked for.'),
    age,
    wide(text('VolumeMode', 'File system or raw block device.')),
  ],
  cells(object, now) {
    const {spec = {}, status = {}} = object;
    const isBound = Boolean(spec.volumeName);
    return [
      nameOf(object),
      object.metadata.deletionTimestamp ? 'Terminating' : (status.phase ?? ''),
      spec.volumeName ?? '',
      isBound ? quantity(status.capacity?.storage) : '',
      isBound ? accessModes(status.accessModes) : '',
      storageClassOf(object),
      spec.volumeAttributesClassName ?? unset,
      ageOf(object, now),
      spec.volumeMode ?? unset,
    ];
  },
};
