/** Rules over the whole cluster. */
import {emptyListsAsNull} from '../common/empty-lists.ts';
import {define} from '../define.ts';
import {validateClusterRole, validateClusterRoleUpdate} from './clusterrole.validate.ts';

export const clusterRole = define({
  validate: (object) => validateClusterRole(object),
  validateUpdate: validateClusterRoleUpdate,
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
  canonicalize: emptyListsAsNull('rules'),
});
