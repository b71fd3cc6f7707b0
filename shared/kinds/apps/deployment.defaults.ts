/** A deployment replaces a quarter of its pods at a time. */
import {type Defaults, fill} from '../common/defaulter.ts';

export const deploymentDefaults: Defaults = {
  'apps/v1.Deployment': ({spec}) => {
    spec.replicas ??= 1;
    const {strategy} = spec;
    fill(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate ??= {};
      strategy.rollingUpdate.maxUnavailable ??= '25%';
      strategy.rollingUpdate.maxSurge ??= '25%';
    }
    spec.revisionHistoryLimit ??= 10;
    spec.progressDeadlineSeconds ??= 600;
  },
};
