/** A claim that names no class gets the default one. */
import type {Plugin} from './attributes.ts';
import {newestDefault} from './newest-default.ts';

const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export const defaultStorageClass: Plugin = {
  name: 'DefaultStorageClass',
  operations: ['CREATE'],
  resources: ['persistentvolumeclaims'],
  async mutate({object: claim}, lookups) {
    if (!claim || claim.spec?.storageClassName !== undefined) return;
    if (claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined) return;
    const chosen = newestDefault(await lookups.storageClasses(), defaultAnnotations);
    if (chosen) claim.spec = {...claim.spec, storageClassName: chosen.metadata.name};
  },
};
