/** A piece of storage. */

import type {KubeObject} from '../../object.ts';
import {list} from '../common/loose.ts';
import {termWarnings} from '../common/node-label-warnings.ts';
import {rfc3339} from '../common/time.ts';
import {define} from '../define.ts';
import {validatePersistentVolume, validatePersistentVolumeUpdate} from './persistentvolume.validate.ts';

export const persistentVolume = define({
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  validate: validatePersistentVolume,
  validateUpdate: (object, old, {subresource}) => validatePersistentVolumeUpdate(object, old, subresource),
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'full'],
  newStatus: (_object, {now}) => ({phase: 'Pending', lastPhaseTransitionTime: rfc3339(now)}),
  prepareForUpdate(object, old, {subresource, now}) {
    if (subresource !== 'status') return;
    const before = old.status?.lastPhaseTransitionTime;
    const after = object.status?.lastPhaseTransitionTime;
    if (old.status?.phase === object.status?.phase) {
      if (!after && before) object.status.lastPhaseTransitionTime = before;
    } else if (!after || after === before) object.status = {...object.status, lastPhaseTransitionTime: rfc3339(now)};
  },
  selectableFields: (object) => ({name: object.metadata.name ?? ''}),
});

const annotations: Record<string, string> = {
  'volume.beta.kubernetes.io/storage-class': 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
};
const sources: Record<string, string> = {
  cephfs: 'cephfs: deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'scaleIO: deprecated in v1.16, non-functional in v1.22+',
  storageos: 'storageOS: deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'glusterfs: deprecated in v1.25, non-functional in v1.26+',
  rbd: 'rbd: deprecated in v1.28, non-functional in v1.31+',
};
const recycled =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';

function warnings({metadata, spec}: KubeObject): string[] {
  return [
    ...Object.entries(annotations).flatMap(([key, words]) =>
      metadata.annotations?.[key] === undefined ? [] : [`metadata.annotations[${key}]: ${words}`],
    ),
    ...(spec?.persistentVolumeReclaimPolicy === 'Recycle' ? [recycled] : []),
    ...list(spec?.nodeAffinity?.required?.nodeSelectorTerms).flatMap((term, index) =>
      termWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`, false),
    ),
    ...Object.entries(sources).flatMap(([type, words]) => (spec?.[type] ? [`spec.${words}`] : [])),
  ];
}
