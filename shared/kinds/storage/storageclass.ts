/** A kind of storage that claims can ask for. */
import {define} from '../define.ts';
import {validateStorageClass, validateStorageClassUpdate} from './storageclass.validate.ts';

export const storageClass = define({
  validate: validateStorageClass,
  validateUpdate: validateStorageClassUpdate,
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
});
