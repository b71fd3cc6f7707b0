/** How many pods of a set may be disturbed at once. */
import {define} from '../define.ts';
import {validatePodDisruptionBudget, validatePodDisruptionBudgetUpdate} from './poddisruptionbudget.validate.ts';

export const podDisruptionBudget = define({
  validate: (object) => validatePodDisruptionBudget(object),
  validateUpdate: (object, old, {subresource}) => validatePodDisruptionBudgetUpdate(object, old, subresource),
  name: 'pathSegment',
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  metadataOnUpdate: [],
  newStatus: () => ({disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0}),
});
