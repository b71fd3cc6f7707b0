/** A replication controller: labels and selector come from the template. The number of replicas is a constant of the facts. */
import {type Defaults, isEmptyMap} from '../common/defaulter.ts';

export const replicationControllerDefaults: Defaults = {
  'core/v1.ReplicationController': ({metadata, spec}) => {
    const labels = spec.template?.metadata?.labels;
    if (!labels) return;
    if (isEmptyMap(spec.selector)) spec.selector = {...labels};
    if (isEmptyMap(metadata.labels)) metadata.labels = {...labels};
  },
};
