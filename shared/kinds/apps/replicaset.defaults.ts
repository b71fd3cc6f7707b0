/** A replica set keeps one pod. */
import type {Defaults} from '../common/defaulter.ts';

export const replicaSetDefaults: Defaults = {
  'apps/v1.ReplicaSet': ({spec}) => {
    spec.replicas ??= 1;
  },
};
