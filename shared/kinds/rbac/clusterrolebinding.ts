/** Who has a cluster role everywhere. */
import {define} from '../define.ts';
import {validateClusterRoleBinding, validateClusterRoleBindingUpdate} from './clusterrolebinding.validate.ts';

export const clusterRoleBinding = define({
  validate: validateClusterRoleBinding,
  validateUpdate: validateClusterRoleBindingUpdate,
  name: 'pathSegment',
  allowCreateOnUpdate: true,
  metadataOnUpdate: ['full', 'update'],
});
