/** Whether a role binding is well formed. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {keptRoleRef, validateBinding} from './bindings.validate.ts';

export const validateRoleBinding = (object: KubeObject): FieldError[] => validateBinding(object, true);
export const validateRoleBindingUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validateRoleBinding(object),
  ...keptRoleRef(object, old),
];
