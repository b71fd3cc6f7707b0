/** How many pods of a set may be disturbed at once. */
import {define} from '../define.ts';

export const podDisruptionBudget = define({
  name: 'pathSegment',
  generation: true,
  allowUnconditionalUpdate: false,
  plainFinalizers: true,
  metadataOnUpdate: [],
  newStatus: () => ({disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0}),
});
