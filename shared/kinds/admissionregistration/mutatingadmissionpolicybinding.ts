/** Where a mutating policy applies. */
import {define} from '../define.ts';

export const mutatingAdmissionPolicyBinding = define({
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
