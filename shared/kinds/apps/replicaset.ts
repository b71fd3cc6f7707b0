/** A number of pods from one template. */
import {workloadWarnings} from '../common/workload-warnings.ts';
import {define} from '../define.ts';
import {validateReplicaSet, validateReplicaSetUpdate} from './replicaset.validate.ts';

export const replicaSet = define({
  ...workloadWarnings({named: true}),
  validate: validateReplicaSet,
  validateUpdate: (object, old, {subresource}) => validateReplicaSetUpdate(object, old, subresource),
  generation: true,
  newStatus: () => ({replicas: 0}),
  selectableFields: (object) => ({'status.replicas': String(object.status?.replicas ?? 0)}),
});
