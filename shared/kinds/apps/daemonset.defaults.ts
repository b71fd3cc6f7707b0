/** A daemon set replaces its pods one by one. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const generationAnnotation = 'deprecated.daemonset.template.generation';

export const daemonSetDefaults: Defaults = {
  'apps/v1.DaemonSet': ({metadata, spec}) => {
    // Every decoded one has it, so whoever creates a daemon set owns it.
    metadata.annotations = {...metadata.annotations, [generationAnnotation]: metadata.annotations?.[generationAnnotation] ?? '0'};
    const strategy = spec.updateStrategy;
    fill(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate ??= {};
      strategy.rollingUpdate.maxUnavailable ??= 1;
      strategy.rollingUpdate.maxSurge ??= 0;
    }
    spec.revisionHistoryLimit ??= 10;
  },
};
