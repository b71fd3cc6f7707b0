/** Who has a cluster role everywhere. */
import {define} from '../define.ts';

export const clusterRoleBinding = define({
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
});
