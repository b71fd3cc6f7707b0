/** Which requests share a priority level. */
import {define} from '../define.ts';

export const flowSchema = define({
  generation: true,
  statusKeepsMetadata: true,
  newStatus: () => ({}),
});
