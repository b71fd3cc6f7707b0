/** Whether a validating policy is well formed, but for its CEL. */
import {duplicate, type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {qualified} from '../common/checks.ts';
import {validateConditions as validateStatusConditions} from '../common/conditions.ts';
import {list, type Part} from '../common/loose.ts';
import {byteLength} from '../common/names.ts';
import {validateConditions, validateFailurePolicyAndParams, validateMatchConstraints, validateVariables} from './policies.validate.ts';

const maxAuditAnnotations = 20;
const maxValueBytes = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const atLeastOne = 'validations or auditAnnotations must contain at least one item';

export const validateValidatingAdmissionPolicy = (object: KubeObject): FieldError[] => validate(object);

export function validateValidatingAdmissionPolicyUpdate(object: KubeObject, old: KubeObject, subresource = ''): FieldError[] {
  if (subresource !== 'status') return validate(object, old);
  const warnings = list(object.status?.typeChecking?.expressionWarnings).flatMap(({warning, fieldRef}, index) => {
    const path = `status.typeChecking.expressionWarnings[${index}]`;
    return [...(warning ? [] : [required(`${path}.warning`)]), ...(fieldRef?.trim() ? [] : [required(`${path}.fieldRef`)])];
  });
  return [...warnings, ...validateStatusConditions(object.status?.conditions, 'status.conditions')];
}

function validate({metadata, spec: given}: KubeObject, old?: KubeObject): FieldError[] {
  const spec = given ?? {};
  const errors = [
    ...validateFailurePolicyAndParams(spec),
    ...validateMatchConstraints(spec),
    ...validateConditions(spec, old?.spec),
    ...validateVariables(spec),
  ];
  const validations = list(spec.validations);
  const annotations = list(spec.auditAnnotations);
  if (validations.length === 0 && annotations.length === 0)
    return [...errors, required('spec.validations', atLeastOne), required('spec.auditAnnotations', atLeastOne)];
  for (const [index, validation] of validations.entries()) errors.push(...validateValidation(validation, `spec.validations[${index}]`));
  if (annotations.length > maxAuditAnnotations)
    errors.push(
      invalid('spec.auditAnnotations', annotations.map(shown), `must not have more than ${maxAuditAnnotations} auditAnnotations`),
    );
  const keys = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const path = `spec.auditAnnotations[${index}]`;
    const {key = ''} = annotation;
    errors.push(...validateAnnotation(annotation, metadata.name ?? '', path));
    if (keys.has(key)) errors.push(duplicate(`${path}.key`, key));
    keys.add(key);
  }
  return errors;
}

const shown = ({key = '', valueExpression = ''}: Part) => ({Key: key, ValueExpression: valueExpression});

function validateValidation({expression = '', message = '', messageExpression = '', reason}: Part, path: string): FieldError[] {
  const errors = expression.trim() ? [] : [required(`${path}.expression`, 'expression is not specified')];
  const nonEmpty = 'must be non-empty if specified';
  if (messageExpression && !messageExpression.trim()) errors.push(invalid(`${path}.messageExpression`, messageExpression, nonEmpty));
  if (message && !message.trim()) errors.push(invalid(`${path}.message`, message, nonEmpty));
  else if (/[\n\r]/.test(message.trim())) errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, reasons));
  return errors;
}

function validateAnnotation({key = '', valueExpression = ''}: Part, name: string, path: string): FieldError[] {
  const errors = name ? qualified(`${name}/${key}`, `${path}.key`) : [invalid(`${path}.key`, key, 'requires metadata.name be non-empty')];
  const value = valueExpression.trim();
  const at = `${path}.valueExpression`;
  if (!value) errors.push(required(at, 'valueExpression is not specified'));
  else if (byteLength(value) > maxValueBytes) errors.push(required(at, `must not exceed ${maxValueBytes} bytes in length`));
  return errors;
}
