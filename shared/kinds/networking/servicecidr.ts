/** A block of service addresses. */
import {define} from '../define.ts';

export const serviceCIDR = define({
  newStatus: () => ({}),
  statusKeepsMetadata: true,
});
