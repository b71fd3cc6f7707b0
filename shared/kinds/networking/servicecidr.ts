/** A block of service addresses. */
import {define} from '../define.ts';
import {validateServiceCIDR, validateServiceCIDRUpdate} from './servicecidr.validate.ts';

export const serviceCIDR = define({
  validate: validateServiceCIDR,
  validateUpdate: (object, old, {subresource}) => validateServiceCIDRUpdate(object, old, subresource),
  newStatus: () => ({}),
  statusKeepsMetadata: true,
});
