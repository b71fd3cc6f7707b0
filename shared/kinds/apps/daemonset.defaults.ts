/** A daemon set replaces its pods one by one. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const daemonSetDefaults: Defaults = {
  'apps/v1.DaemonSet': ({spec}) => {
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
