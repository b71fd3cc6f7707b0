/** Limits and defaults for the pods and claims of a namespace. Applied in admission. */
import {define} from '../define.ts';

export const limitRange = define({
  allowCreateOnUpdate: true,
});
