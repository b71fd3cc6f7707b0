/** A lock with an expiry. */
import {define} from '../define.ts';
import {validateLease, validateLeaseUpdate} from './lease.validate.ts';

export const lease = define({
  validate: validateLease,
  validateUpdate: validateLeaseUpdate,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
});
