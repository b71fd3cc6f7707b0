/** Who serves a group version. One without a service is served here, and available at once. */
import type {JsonObject} from '../../object.ts';
import {rfc3339} from '../common/time.ts';
import {define, setOrDelete} from '../define.ts';
import {validateAPIService, validateAPIServiceUpdate} from './apiservice.validate.ts';

export const apiService = define({
  validate: validateAPIService,
  validateUpdate: (object, old, {subresource}) => validateAPIServiceUpdate(object, old, subresource),
  name: 'pathSegment',
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  metadataOnUpdate: ['update', 'full'],
  newStatus: (object, {now}): JsonObject =>
    object.spec?.service
      ? {}
      : {
          conditions: [
            {
              type: 'Available',
              status: 'True',
              lastTransitionTime: rfc3339(now),
              reason: 'Local',
              message: 'Local APIServices are always available',
            },
          ],
        },
  prepareForUpdate(object, old, {subresource}) {
    if (subresource !== 'status') return;
    for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const)
      setOrDelete(object.metadata, field, old.metadata[field] as never);
  },
});
