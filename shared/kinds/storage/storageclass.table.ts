/** Storage classes in a table. */
import type {KubeObject} from '../../object.ts';
import {ageOf, nameOf} from '../common/cells.table.ts';
import {age, type KindTable, name, text} from '../common/columns.table.ts';

export const storageClassTable: KindTable = {
  columns: [
    name,
    text('Provisioner', 'Who makes its volumes.'),
    text('ReclaimPolicy', 'What happens to volumes whose claim is gone.'),
    text('VolumeBindingMode', 'When volumes are made and bound.'),
    text('AllowVolumeExpansion', 'Whether claims may grow.'),
    age,
  ],
  cells: (object, now) => [
    nameOf(object) + (isDefault(object) ? ' (default)' : ''),
    object.provisioner ?? '',
    object.reclaimPolicy ?? 'Delete',
    object.volumeBindingMode ?? 'Immediate',
    object.allowVolumeExpansion ?? false,
    ageOf(object, now),
  ],
};

const isDefault = ({metadata: {annotations}}: KubeObject): boolean =>
  ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'].some(
    (key) => annotations?.[key] === 'true',
  );
