/** A cron job keeps three jobs that went well and one that did not. Its jobs get their own defaults when they are made. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const cronJobDefaults: Defaults = {
  'batch/v1.CronJob': ({spec}) => {
    fill(spec, 'concurrencyPolicy', 'Allow');
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
  },
};
