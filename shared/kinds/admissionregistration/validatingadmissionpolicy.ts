/** Judgement over objects, in CEL. */
import {define} from '../define.ts';

export const validatingAdmissionPolicy = define({
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  statusKeepsMetadata: true,
  newStatus: () => ({}),
});
