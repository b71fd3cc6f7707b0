/** Only a bound claim of a class that can be expanded may ask for more room. */

import {nanos} from '../kinds/common/quantity.ts';
import type {KubeObject} from '../object.ts';
import {type Plugin, refuse} from './attributes.ts';

const classOf = ({metadata, spec}: KubeObject): string =>
  metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
const size = ({spec}: KubeObject): bigint => nanos(spec?.resources?.requests?.storage);

export const persistentVolumeClaimResize: Plugin = {
  name: 'PersistentVolumeClaimResize',
  operations: ['UPDATE'],
  resources: ['persistentvolumeclaims'],
  async validate(attributes, lookups) {
    const {object, old} = attributes;
    if (!object || !old || size(object) <= size(old)) return;
    if (old.status?.phase !== 'Bound') throw refuse(attributes, 'Only bound persistent volume claims can be expanded');
    const name = classOf(object);
    const chosen =
      name && name === classOf(old) ? (await lookups.storageClasses()).find(({metadata}) => metadata.name === name) : undefined;
    if (!chosen?.allowVolumeExpansion)
      throw refuse(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
  },
};
