/** The attachment of a volume to a node. */
import {define} from '../define.ts';

export const volumeAttachment = define({
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
  statusKeepsMetadata: true,
  newStatus: () => ({attached: false}),
});
