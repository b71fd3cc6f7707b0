/** Whether a role is well formed. Whether its writer may grant it is the registry's question. */
import type {FieldError} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {validateRules} from './rules.validate.ts';

export const validateRole = ({rules}: KubeObject): FieldError[] => validateRules(rules, true);
export const validateRoleUpdate = (object: KubeObject): FieldError[] => validateRole(object);
