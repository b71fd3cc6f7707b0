/** Attributes of volumes that can be changed. */
import {define} from '../define.ts';
import {validateVolumeAttributesClass, validateVolumeAttributesClassUpdate} from './volumeattributesclass.validate.ts';

export const volumeAttributesClass = define({
  validate: validateVolumeAttributesClass,
  validateUpdate: validateVolumeAttributesClassUpdate,
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
});
