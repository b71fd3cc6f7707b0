/** A request for devices. */
import {define} from '../define.ts';
import {validateResourceClaim, validateResourceClaimUpdate} from './resourceclaim.validate.ts';

export const resourceClaim = define({
  validate: validateResourceClaim,
  validateUpdate: (object, old, {subresource}) => validateResourceClaimUpdate(object, old, subresource),
  deleteReturnsObject: true,
  statusKeepsMetadata: true,
  metadataOnUpdate: ['full', 'update'],
  newStatus: () => ({}),
});
