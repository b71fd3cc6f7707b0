/** Rules over the whole cluster. */
import {define} from '../define.ts';

export const clusterRole = define({
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
});
