/** Where a mutating policy applies. */
import {define} from '../define.ts';
import {
  validateMutatingAdmissionPolicyBinding,
  validateMutatingAdmissionPolicyBindingUpdate,
} from './mutatingadmissionpolicybinding.validate.ts';

export const mutatingAdmissionPolicyBinding = define({
  validate: validateMutatingAdmissionPolicyBinding,
  validateUpdate: validateMutatingAdmissionPolicyBindingUpdate,
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
