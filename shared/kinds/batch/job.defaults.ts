/** A job: one completion, by one pod at a time, unless it says more. */
import {type Defaults, fill, isEmptyMap} from '../common/defaulter.ts';

const maxInt32 = 2 ** 31 - 1;

export const jobDefaults: Defaults = {
  'batch/v1.Job': ({metadata, spec}) => {
    if (spec.parallelism === undefined) spec.completions ??= 1;
    spec.parallelism ??= 1;
    // With a limit per index the one for all must not come first.
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32;
    const labels = spec.template.metadata?.labels;
    // The very same map, so that whoever adds to the pods' labels adds to the job's.
    if (labels && isEmptyMap(metadata.labels)) metadata.labels = labels;
    spec.completionMode ??= 'NonIndexed';
    spec.suspend ??= false;
    spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
    spec.manualSelector ??= false;
  },
  'batch/v1.PodFailurePolicyOnPodConditionsPattern': (pattern) => fill(pattern, 'status', 'True'),
};
