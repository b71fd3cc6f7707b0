/** Jobs by the clock. */
import {define} from '../define.ts';
import {validateCronJob, validateCronJobUpdate} from './cronjob.validate.ts';

export const cronJob = define({
  validate: validateCronJob,
  validateUpdate: (object, old, {subresource}) => validateCronJobUpdate(object, old, subresource),
  generation: true,
  newStatus: () => ({}),
});
