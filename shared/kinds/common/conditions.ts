/** Conditions in their standard form (`metav1.Condition`): every field of one is checked, and a type stands once. */
import {duplicate, type FieldError, invalid, notSupported, required, tooLong} from '../../field-errors.ts';
import {validateLabelName} from './labels.ts';
import {list, type Part} from './loose.ts';
import {byteLength, patternText} from './names.ts';

export const conditionStatuses = ['False', 'True', 'Unknown'];
const maxReasonBytes = 1024;
const maxMessageBytes = 32 * 1024;
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonExpression = new RegExp(`^${reasonPattern}$`);
const reasonText = patternText(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  reasonPattern,
  'my_name',
  'MY_NAME',
  'MyName',
  'ReasonA,ReasonB',
  'ReasonA:ReasonB',
);

export function validateConditions(conditions: Part, path: string): FieldError[] {
  const seen = new Set<string>();
  return list(conditions).flatMap((condition, index) => {
    const at = `${path}[${index}]`;
    const {type = ''} = condition;
    const errors = seen.has(type) ? [duplicate(`${at}.type`, type)] : [];
    seen.add(type);
    return [...errors, ...validateCondition(condition, at)];
  });
}

function validateCondition(
  {type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = ''}: Part,
  path: string,
) {
  const errors = validateLabelName(type, `${path}.type`);
  if (!conditionStatuses.includes(status)) errors.push(notSupported(`${path}.status`, status, conditionStatuses));
  if (observedGeneration < 0)
    errors.push(invalid(`${path}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero'));
  if (!lastTransitionTime) errors.push(required(`${path}.lastTransitionTime`));
  if (!reason) errors.push(required(`${path}.reason`));
  else {
    if (!reasonExpression.test(reason)) errors.push(invalid(`${path}.reason`, reason, reasonText));
    if (byteLength(reason) > maxReasonBytes) errors.push(tooLong(`${path}.reason`, maxReasonBytes));
  }
  if (byteLength(message) > maxMessageBytes) errors.push(tooLong(`${path}.message`, maxMessageBytes));
  return errors;
}
