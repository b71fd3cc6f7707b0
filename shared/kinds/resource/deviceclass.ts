/** A class of devices. */
import {define} from '../define.ts';

export const deviceClass = define({
  name: 'longName',
  generation: true,
  deleteReturnsObject: true,
  metadataOnUpdate: ['full', 'update'],
});
