/** A kind of storage that claims can ask for. */
import {define} from '../define.ts';

export const storageClass = define({
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
});
