/** A driver of storage: it wants attaching, and nothing more. */
import {type Defaults, isEmptyList} from '../common/defaulter.ts';

export const csiDriverDefaults: Defaults = {
  'storage/v1.CSIDriver': ({spec}) => {
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    if (isEmptyList(spec.volumeLifecycleModes)) spec.volumeLifecycleModes = ['Persistent'];
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
};
