/** Who has a role within a namespace. */
import {define} from '../define.ts';

export const roleBinding = define({
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
});
