/** How much room a storage class has in a topology. */
import {define} from '../define.ts';
import {validateCSIStorageCapacity, validateCSIStorageCapacityUpdate} from './csistoragecapacity.validate.ts';

export const csiStorageCapacity = define({
  validate: (object) => validateCSIStorageCapacity(object),
  validateUpdate: validateCSIStorageCapacityUpdate,
  allowUnconditionalUpdate: false,
  metadataOnUpdate: ['full', 'update'],
});
