/** Where a validating policy applies. */
import {define} from '../define.ts';

export const validatingAdmissionPolicyBinding = define({
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
