/** Whether a volume attributes class is well formed. It never changes. */
import {type FieldError, fieldForbidden} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {sameJson} from '../common/equal.ts';
import {validateParameters, validateProvisioner} from './parameters.validate.ts';

export const validateVolumeAttributesClass = (object: KubeObject): FieldError[] => [
  ...validateProvisioner(object.driverName, 'driverName'),
  ...validateParameters(object.parameters, 'parameters', true),
];

export const validateVolumeAttributesClassUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...['driverName', 'parameters'].flatMap((field) =>
    sameJson(object[field], old[field]) ? [] : [fieldForbidden(field, `updates to ${field} are forbidden.`)],
  ),
  ...validateVolumeAttributesClass(object),
];
