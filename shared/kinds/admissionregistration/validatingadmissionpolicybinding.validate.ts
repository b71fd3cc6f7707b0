/** Whether the binding of a validating policy is well formed. */
import {duplicate, type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {list} from '../common/loose.ts';
import {validateBindingSpec} from './policies.validate.ts';

const actions = ['Audit', 'Deny', 'Warn'];
const path = 'spec.validationActions';

export const validateValidatingAdmissionPolicyBinding = ({spec}: KubeObject): FieldError[] => [
  ...validateBindingSpec(spec ?? {}),
  ...validateActions(list(spec?.validationActions)),
];
export const validateValidatingAdmissionPolicyBindingUpdate = (object: KubeObject): FieldError[] =>
  validateValidatingAdmissionPolicyBinding(object);

function validateActions(given: string[]): FieldError[] {
  const errors = given.flatMap((action, index) => [
    ...(actions.includes(action) ? [] : [notSupported(`${path}[${index}]`, action, actions)]),
    ...(given.indexOf(action) < index ? [duplicate(`${path}[${index}]`, action)] : []),
  ]);
  if (given.includes('Deny') && given.includes('Warn'))
    errors.push(
      invalid(
        path,
        given,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    );
  return given.length ? errors : [...errors, required(path, 'at least one validation action is required')];
}
