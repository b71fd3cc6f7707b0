/** Where a validating policy applies. */
import {define} from '../define.ts';
import {
  validateValidatingAdmissionPolicyBinding,
  validateValidatingAdmissionPolicyBindingUpdate,
} from './validatingadmissionpolicybinding.validate.ts';

export const validatingAdmissionPolicyBinding = define({
  validate: validateValidatingAdmissionPolicyBinding,
  validateUpdate: validateValidatingAdmissionPolicyBindingUpdate,
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
