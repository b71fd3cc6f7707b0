/** A pattern for the claims of pods. */
import {define} from '../define.ts';

export const resourceClaimTemplate = define({
  deleteReturnsObject: true,
  metadataOnUpdate: ['update', 'full'],
});
