/** Labels and the selectors over them, as parts of objects. Selectors of a query are parsed in shared/selector. */
import {type FieldError, fieldForbidden, invalid, required} from '../../field-errors.ts';
import {qualifiedName, validLabelValue} from './names.ts';

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: {key: string; operator: string; values?: string[]}[];
}

export const validateLabelName = (name: string, path: string): FieldError[] => qualifiedName(name).map((text) => invalid(path, name, text));

export function validateLabels(labels: Record<string, string> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    errors.push(...validateLabelName(key, path));
    for (const text of validLabelValue(value)) errors.push(invalid(path, value, text));
  }
  return errors;
}

/** `lenientValues`: an update of an object that already holds values which are no label values. */
export function validateLabelSelector(
  selector: LabelSelector | null | undefined,
  path: string,
  options: {lenientValues?: boolean} = {},
): FieldError[] {
  const errors = validateLabels(selector?.matchLabels, `${path}.matchLabels`);
  for (const [index, {key, operator, values = []}] of (selector?.matchExpressions ?? []).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0)
        errors.push(fieldForbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    } else errors.push(invalid(`${at}.operator`, operator ?? '', 'not a valid selector operator'));
    errors.push(...validateLabelName(key ?? '', `${at}.key`));
    if (!options.lenientValues)
      for (const [at2, value] of values.entries())
        for (const text of validLabelValue(value)) errors.push(invalid(`${at}.values[${at2}]`, value, text));
  }
  return errors;
}

export const isEmptySelector = (selector: LabelSelector | null | undefined): boolean =>
  !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length;

/** Whether a (valid) selector matches. The empty one matches all; no selector at all matches nothing. */
export function selectorMatches(selector: LabelSelector | null | undefined, labels: Record<string, string> = {}): boolean {
  if (!selector) return false;
  if (Object.entries(selector.matchLabels ?? {}).some(([key, value]) => labels[key] !== value)) return false;
  return (selector.matchExpressions ?? []).every(({key, operator, values = []}) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (operator === 'In') return value !== undefined && values.includes(value);
    if (operator === 'NotIn') return value === undefined || !values.includes(value);
    return operator === 'Exists' ? value !== undefined : value === undefined;
  });
}
