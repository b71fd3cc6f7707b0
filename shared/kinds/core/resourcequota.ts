/** A bound on what a namespace may use. Counted and enforced in admission. */
import type {KubeObject} from '../../object.ts';
import {nanos} from '../common/quantity.ts';
import {define} from '../define.ts';
import {validateResourceQuota, validateResourceQuotaUpdate} from './resourcequota.validate.ts';

export const resourceQuota = define({
  warningsOnCreate: warnings,
  validate: validateResourceQuota,
  validateUpdate: (object, old, {subresource}) => validateResourceQuotaUpdate(object, old, subresource),
  deleteReturnsObject: true,
  newStatus: () => ({}),
});

/** All requests together cannot come to more than all limits together. */
function warnings({spec}: KubeObject): string[] {
  return ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => {
    const hard = spec?.hard ?? {};
    const plain = hard[`requests.${name}`] === undefined && name !== 'ephemeral-storage' && hard[name] !== undefined;
    const asked = plain ? name : `requests.${name}`;
    const [request, limit] = [hard[asked], hard[`limits.${name}`]];
    return request !== undefined && limit !== undefined && nanos(request) > nanos(limit)
      ? [`ResourceQuota ${asked} (${request}) should be less than limits.${name} (${limit})`]
      : [];
  });
}
