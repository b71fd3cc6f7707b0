/** Changes to objects, in CEL. */
import {define} from '../define.ts';

export const mutatingAdmissionPolicy = define({
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
