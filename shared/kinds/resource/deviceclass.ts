/** A class of devices. */
import {define} from '../define.ts';
import {validateDeviceClass, validateDeviceClassUpdate} from './deviceclass.validate.ts';

export const deviceClass = define({
  validate: (object) => validateDeviceClass(object),
  validateUpdate: validateDeviceClassUpdate,
  name: 'longName',
  generation: true,
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
});
