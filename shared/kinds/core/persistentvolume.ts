/** A piece of storage. */

import {rfc3339} from '../common/time.ts';
import {define} from '../define.ts';
import {validatePersistentVolume, validatePersistentVolumeUpdate} from './persistentvolume.validate.ts';

export const persistentVolume = define({
  validate: validatePersistentVolume,
  validateUpdate: (object, old, {subresource}) => validatePersistentVolumeUpdate(object, old, subresource),
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
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
