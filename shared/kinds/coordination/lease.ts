/** A lock with an expiry. */
import {define} from '../define.ts';

export const lease = define({
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
