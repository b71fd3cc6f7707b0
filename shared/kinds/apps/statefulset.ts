/** Pods with identities and storage of their own. */
import {define} from '../define.ts';
import {validateStatefulSet, validateStatefulSetUpdate} from './statefulset.validate.ts';

export const statefulSet = define({
  validate: validateStatefulSet,
  validateUpdate: (object, old, {subresource}) => validateStatefulSetUpdate(object, old, subresource),
  name: 'dns1123Label',
  generation: true,
  newStatus: () => ({replicas: 0, availableReplicas: 0}),
});
