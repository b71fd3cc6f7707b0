/** Jobs by the clock. */
import {nameOfPods} from '../common/workload-warnings.ts';
import {define} from '../define.ts';
import {validateCronJob, validateCronJobUpdate} from './cronjob.validate.ts';
import {jobWarnings} from './job.ts';

const zoneInSchedule =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

export const cronJob = define({
  warningsOnCreate: (object) => [...nameOfPods(object), ...jobWarnings(object.spec?.jobTemplate?.spec, 'spec.jobTemplate.spec')],
  warningsOnUpdate: (object, old) => [
    ...(object.metadata.generation === old.metadata.generation ? [] : jobWarnings(object.spec?.jobTemplate?.spec, 'spec.jobTemplate.spec')),
    ...(object.spec?.schedule?.includes('TZ') ? [zoneInSchedule] : []),
  ],
  validate: validateCronJob,
  validateUpdate: (object, old, {subresource}) => validateCronJobUpdate(object, old, subresource),
  generation: true,
  newStatus: () => ({}),
});
