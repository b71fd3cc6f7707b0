/** Rules within a namespace. */
import {emptyListsAsNull} from '../common/empty-lists.ts';
import {define} from '../define.ts';
import {validateRole, validateRoleUpdate} from './role.validate.ts';

export const role = define({
  validate: validateRole,
  validateUpdate: validateRoleUpdate,
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
  canonicalize: emptyListsAsNull('rules'),
});
