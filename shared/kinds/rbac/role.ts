/** Rules within a namespace. */
import {define} from '../define.ts';

export const role = define({
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
});
