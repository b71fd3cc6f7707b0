/** Taints of devices, and what tolerates them; conditions that bind devices to nodes. */
import {duplicate, type FieldError, invalid, notSupported, required, tooMany} from '../../field-errors.ts';
import {problems} from '../common/checks.ts';
import {validateLabelName} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {validLabelValue} from '../common/names.ts';

const effects = ['NoExecute', 'NoSchedule', 'None'];
const operators = ['Equal', 'Exists'];
const maxBindingConditions = 4;

const validateEffect = (effect: string, path: string): FieldError[] =>
  effects.includes(effect) ? [] : [notSupported(path, effect, effects)];

export const validateTaint = ({key = '', value, effect = ''}: Part, path: string): FieldError[] => [
  ...validateLabelName(key, `${path}.key`),
  ...(value ? problems(`${path}.value`, value, validLabelValue(value)) : []),
  ...(effect ? validateEffect(effect, `${path}.effect`) : [required(`${path}.effect`)]),
];

export function validateToleration({key, operator = '', value = '', effect}: Part, path: string): FieldError[] {
  const errors = key ? validateLabelName(key, `${path}.key`) : [];
  const at = `${path}.value`;
  if (operator === 'Exists') {
    if (value) errors.push(invalid(at, value, 'must be empty for operator `Exists`'));
  } else if (operator === 'Equal') errors.push(...problems(at, value, validLabelValue(value)));
  else errors.push(operator ? notSupported(`${path}.operator`, operator, operators) : required(`${path}.operator`));
  return effect ? [...errors, ...validateEffect(effect, `${path}.effect`)] : errors;
}

/** Both lists or none, without doubles, and nothing in both. */
export function validateBindingConditions({bindingConditions, bindingFailureConditions}: Part, path: string): FieldError[] {
  const [success, failure] = [`${path}.bindingConditions`, `${path}.bindingFailureConditions`];
  const [bound, failed]: string[][] = [list(bindingConditions), list(bindingFailureConditions)];
  const names = (given: string[], at: string): FieldError[] =>
    given.length > maxBindingConditions
      ? [tooMany(at, given.length, maxBindingConditions)]
      : given.flatMap((name, index) => validateLabelName(name, `${at}[${index}]`));
  const doubles = (given: string[], at: string, index: number): FieldError[] =>
    given.indexOf(given[index]!) < index ? [duplicate(`${at}[${index}]`, given[index])] : [];
  const errors = [
    ...names(bound!, success),
    ...names(failed!, failure),
    ...bound!.flatMap((_name, index) => doubles(bound!, success, index)),
  ];
  for (const [index, name] of failed!.entries()) {
    errors.push(...doubles(failed!, failure, index));
    if (bound!.includes(name))
      errors.push(invalid(`${failure}[${index}]`, name, 'bindingFailureConditions must not overlap with bindingConditions'));
  }
  if (bound!.length === 0 && failed!.length > 0)
    errors.push(invalid(success, bindingConditions, 'bindingConditions are required to use bindingFailureConditions'));
  if (failed!.length === 0 && bound!.length > 0)
    errors.push(invalid(failure, bindingFailureConditions, 'bindingFailureConditions are required to use bindingConditions'));
  return errors;
}
