/** Volumes of a storage class are deleted with their claims, and made at once. */
import type {Defaults} from '../common/defaulter.ts';

export const storageClassDefaults: Defaults = {
  'storage/v1.StorageClass': (storageClass) => {
    storageClass.reclaimPolicy ??= 'Delete';
    storageClass.volumeBindingMode ??= 'Immediate';
  },
};
