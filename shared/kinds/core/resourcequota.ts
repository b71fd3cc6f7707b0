/** A bound on what a namespace may use. Counted and enforced in admission. */
import {define} from '../define.ts';
import {validateResourceQuota, validateResourceQuotaUpdate} from './resourcequota.validate.ts';

export const resourceQuota = define({
  validate: validateResourceQuota,
  validateUpdate: (object, old, {subresource}) => validateResourceQuotaUpdate(object, old, subresource),
  deleteReturnsObject: true,
  newStatus: () => ({}),
});
