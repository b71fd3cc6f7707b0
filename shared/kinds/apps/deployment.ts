/** Replicas that roll from one template to the next. */
import {workloadWarnings} from '../common/workload-warnings.ts';
import {define, setOrDelete} from '../define.ts';
import {validateDeployment, validateDeploymentUpdate} from './deployment.validate.ts';

export const deployment = define({
  ...workloadWarnings({named: true}),
  validate: validateDeployment,
  validateUpdate: (object, old, {subresource}) => validateDeploymentUpdate(object, old, subresource),
  generation: true,
  // Its annotations are copied to its replica sets, so they count.
  generationFollows: (object) => [object.spec, object.metadata.annotations],
  newStatus: () => ({}),
  prepareForUpdate(object, old, {subresource}) {
    if (subresource === 'status') setOrDelete(object.metadata, 'labels', old.metadata.labels);
  },
});
