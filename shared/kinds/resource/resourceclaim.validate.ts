/** Whether a claim is well formed. What it asks for stays; what it got is in claim-status.validate.ts. */
import {type FieldError, invalid} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {sameJson} from '../common/equal.ts';
import {immutable} from '../common/metadata.ts';
import {validateClaimSpec} from './claim-spec.validate.ts';
import {validateClaimStatus} from './claim-status.validate.ts';
import {shownClaimSpec} from './shown.validate.ts';

export const validateResourceClaim = ({spec}: KubeObject): FieldError[] => validateClaimSpec(spec, 'spec');

export function validateResourceClaimUpdate(object: KubeObject, old: KubeObject, subresource = ''): FieldError[] {
  if (subresource === 'status') return validateClaimStatus(object, old);
  return sameJson(object.spec, old.spec) ? [] : [invalid('spec', shownClaimSpec(object.spec), immutable)];
}
