/** Changes to objects, in CEL. */
import {define} from '../define.ts';
import {validateMutatingAdmissionPolicy, validateMutatingAdmissionPolicyUpdate} from './mutatingadmissionpolicy.validate.ts';

export const mutatingAdmissionPolicy = define({
  validate: validateMutatingAdmissionPolicy,
  validateUpdate: validateMutatingAdmissionPolicyUpdate,
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
