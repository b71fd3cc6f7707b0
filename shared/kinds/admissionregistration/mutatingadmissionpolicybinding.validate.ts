/** Whether the binding of a mutating policy is well formed. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {validateBindingSpec} from './policies.validate.ts';
import {validateMutableOperations} from './rules.validate.ts';

export const validateMutatingAdmissionPolicyBinding = ({spec}: KubeObject): FieldError[] => [
  ...validateBindingSpec(spec ?? {}),
  ...validateMutableOperations(spec?.matchResources, 'spec.matchResources'),
];
export const validateMutatingAdmissionPolicyBindingUpdate = (object: KubeObject): FieldError[] =>
  validateMutatingAdmissionPolicyBinding(object);
