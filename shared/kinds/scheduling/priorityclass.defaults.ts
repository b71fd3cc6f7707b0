/** Pods of a priority class may push out others. */
import type {Defaults} from '../common/defaulter.ts';

export const priorityClassDefaults: Defaults = {
  'scheduling/v1.PriorityClass': (priorityClass) => {
    priorityClass.preemptionPolicy ??= 'PreemptLowerPriority';
  },
};
