/** A class of devices. */
import {define} from '../define.ts';

export const deviceClass = define({
  generation: true,
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
});
