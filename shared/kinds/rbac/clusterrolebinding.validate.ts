/** Whether a cluster role binding is well formed. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {keptRoleRef, validateBinding} from './bindings.validate.ts';

export const validateClusterRoleBinding = (object: KubeObject): FieldError[] => validateBinding(object, false);
export const validateClusterRoleBindingUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateClusterRoleBinding(object),
  ...keptRoleRef(object, old),
];
