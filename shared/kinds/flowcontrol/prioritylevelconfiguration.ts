/** How many requests of a level run at once. */
import {define} from '../define.ts';
import {validatePriorityLevelConfiguration, validatePriorityLevelConfigurationUpdate} from './prioritylevelconfiguration.validate.ts';

export const priorityLevelConfiguration = define({
  validate: validatePriorityLevelConfiguration,
  validateUpdate: (object, old, {subresource}) => validatePriorityLevelConfigurationUpdate(object, old, subresource),
  generation: true,
  statusKeepsMetadata: true,
  newStatus: () => ({}),
});
