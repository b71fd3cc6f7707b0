/** Volumes and claims are held by a finalizer as long as somebody uses them. */
import type {Plugin} from './attributes.ts';

const finalizers: Record<string, string> = {
  PersistentVolume: 'kubernetes.io/pv-protection',
  PersistentVolumeClaim: 'kubernetes.io/pvc-protection',
  VolumeAttributesClass: 'kubernetes.io/vac-protection',
};

export const storageObjectInUseProtection: Plugin = {
  name: 'StorageObjectInUseProtection',
  operations: ['CREATE'],
  resources: ['persistentvolumes', 'persistentvolumeclaims', 'volumeattributesclasses.storage.k8s.io'],
  mutate({object}) {
    const finalizer = finalizers[object?.kind ?? ''];
    if (!object || !finalizer || object.metadata.finalizers?.includes(finalizer)) return;
    object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  },
};
