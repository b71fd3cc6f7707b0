/** Whether a claim is well formed. What it asks for stays; what it got is in claim-status.validate.ts. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {validateImmutable} from '../common/metadata.ts';
import {validateClaimSpec} from './claim-spec.validate.ts';
import {validateClaimStatus} from './claim-status.validate.ts';

export const validateResourceClaim = ({spec}: KubeObject): FieldError[] => validateClaimSpec(spec, 'spec');

export const validateResourceClaimUpdate = (object: KubeObject, old: KubeObject, subresource = ''): FieldError[] =>
  subresource === 'status' ? validateClaimStatus(object, old) : validateImmutable(object.spec, old.spec, 'spec');
