/** A persistent volume. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const persistentVolumeDefaults: Defaults = {
  'core/v1.PersistentVolume': ({spec, status}) => {
    fill(status, 'phase', 'Pending');
    fill(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    fill(spec, 'volumeMode', 'Filesystem');
  },
};
