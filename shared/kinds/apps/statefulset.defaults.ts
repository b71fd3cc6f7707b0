/** A stateful set: pods in order, claims kept. */
import {type Defaults, fill} from '../common/defaulter.ts';
import {list} from '../common/loose.ts';

export const statefulSetDefaults: Defaults = {
  'apps/v1.StatefulSet': ({spec}) => {
    spec.replicas ??= 1;
    fill(spec, 'podManagementPolicy', 'OrderedReady');
    const strategy = spec.updateStrategy;
    // A strategy that is named but not described stays so.
    if (!strategy.type) {
      strategy.type = 'RollingUpdate';
      strategy.rollingUpdate ??= {};
    }
    if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) strategy.rollingUpdate.partition ??= 0;
    // Templates of claims are served as claims, with their kind.
    for (const template of list(spec.volumeClaimTemplates)) Object.assign(template, {kind: 'PersistentVolumeClaim', apiVersion: 'v1'});
    spec.revisionHistoryLimit ??= 10;
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    fill(spec.persistentVolumeClaimRetentionPolicy, 'whenDeleted', 'Retain');
    fill(spec.persistentVolumeClaimRetentionPolicy, 'whenScaled', 'Retain');
  },
};
