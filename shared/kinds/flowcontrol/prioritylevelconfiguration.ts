/** How many requests of a level run at once. */
import {define} from '../define.ts';

export const priorityLevelConfiguration = define({
  generation: true,
  statusKeepsMetadata: true,
  newStatus: () => ({}),
});
