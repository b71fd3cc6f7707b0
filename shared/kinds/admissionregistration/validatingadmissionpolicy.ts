/** Judgement over objects, in CEL. */
import {define} from '../define.ts';
import {validateValidatingAdmissionPolicy, validateValidatingAdmissionPolicyUpdate} from './validatingadmissionpolicy.validate.ts';

export const validatingAdmissionPolicy = define({
  validate: validateValidatingAdmissionPolicy,
  validateUpdate: (object, old, {subresource}) => validateValidatingAdmissionPolicyUpdate(object, old, subresource),
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  statusKeepsMetadata: true,
  newStatus: () => ({}),
});
