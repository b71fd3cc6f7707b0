/** Limits and defaults for the pods and claims of a namespace. Applied in admission. */
import {define} from '../define.ts';
import {validateLimitRange} from './limitrange.validate.ts';

export const limitRange = define({
  validate: validateLimitRange,
  validateUpdate: validateLimitRange,
  allowCreateOnUpdate: true,
});
