/** A request for devices. */
import {define} from '../define.ts';

export const resourceClaim = define({
  deleteReturnsObject: true,
  statusKeepsMetadata: true,
  metadataOnUpdate: ['full', 'update'],
  newStatus: () => ({}),
});
