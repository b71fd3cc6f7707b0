/** How much room a storage class has in a topology. */
import {define} from '../define.ts';

export const csiStorageCapacity = define({
  allowUnconditionalUpdate: false,
  metadataOnUpdate: ['full', 'update'],
});
