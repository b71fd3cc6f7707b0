/** The first controller of replicas. */
import {workloadWarnings} from '../common/workload-warnings.ts';
import {define} from '../define.ts';
import {validateReplicationController, validateReplicationControllerUpdate} from './replicationcontroller.validate.ts';

export const replicationController = define({
  name: 'longName',
  ...workloadWarnings({named: true}),
  validate: validateReplicationController,
  validateUpdate: (object, old, {subresource}) => validateReplicationControllerUpdate(object, old, subresource),
  generation: true,
  defaultPropagation: 'Orphan',
  newStatus: () => ({replicas: 0}),
  selectableFields: (object) => ({'status.replicas': String(object.status?.replicas ?? 0)}),
});
