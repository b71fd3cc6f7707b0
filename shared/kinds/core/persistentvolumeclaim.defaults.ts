/** A claim on a volume, also as a template within stateful sets and ephemeral volumes. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const persistentVolumeClaimDefaults: Defaults = {
  'core/v1.PersistentVolumeClaim': ({status}) => fill(status, 'phase', 'Pending'),
  'core/v1.PersistentVolumeClaimSpec': (spec) => {
    spec.volumeMode ??= 'Filesystem';
  },
};
