/** Who has a role within a namespace. */
import {define} from '../define.ts';
import {validateRoleBinding, validateRoleBindingUpdate} from './rolebinding.validate.ts';

export const roleBinding = define({
  validate: validateRoleBinding,
  validateUpdate: validateRoleBindingUpdate,
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
});
