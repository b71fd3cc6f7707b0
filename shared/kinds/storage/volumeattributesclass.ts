/** Attributes of volumes that can be changed. */
import {define} from '../define.ts';

export const volumeAttributesClass = define({
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
});
