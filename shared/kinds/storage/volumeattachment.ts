/** The attachment of a volume to a node. */
import {define} from '../define.ts';
import {validateVolumeAttachment, validateVolumeAttachmentUpdate} from './volumeattachment.validate.ts';

export const volumeAttachment = define({
  validate: validateVolumeAttachment,
  validateUpdate: validateVolumeAttachmentUpdate,
  allowUnconditionalUpdate: false,
  deleteReturnsObject: true,
  statusKeepsMetadata: true,
  newStatus: () => ({attached: false}),
});
