/** Whether the capacity of a device, and the policy by which claims take parts of it, are well formed. */
import {type FieldError, fieldForbidden, invalid, required} from '../../field-errors.ts';
import {list, type Part} from '../common/loose.ts';
import {nanos, printQuantity, wholeUnits} from '../common/quantity.ts';
import {validateSet} from './collections.validate.ts';

const maxValues = 10;

/** `isShared`: several claims may have the device at a time. */
export function validateCapacity({value, requestPolicy: policy}: Part, path: string, isShared: boolean): FieldError[] {
  if (!policy) return [];
  const at = `${path}.requestPolicy`;
  if (!isShared) return [fieldForbidden(at, 'allowMultipleAllocations must be true')];
  const {default: standard, validValues, validRange} = policy;
  const hasValues = list(validValues).length > 0;
  if (hasValues && validRange)
    return [fieldForbidden(at, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time')];
  const isMissing = standard == null;
  if (hasValues)
    return isMissing
      ? [required(`${at}.default`, 'required when validValues is defined')]
      : validateValues(validValues, standard, value, `${at}.validValues`);
  if (!validRange) return [];
  return isMissing
    ? [required(`${at}.default`, 'required when validRange is defined')]
    : validateRange(validRange, standard, value, `${at}.validRange`);
}

const whole = (value: unknown): bigint => wholeUnits(nanos(value));

function validateValues(values: Part[], standard: Part, capacity: Part, path: string): FieldError[] {
  const errors = values.flatMap((value, index) =>
    index > 0 && nanos(values[index - 1]) > nanos(value)
      ? [invalid(`${path}[${index}]`, String(value), 'values must be sorted in ascending order')]
      : [],
  );
  const isTooLarge = (value: Part, at: string): FieldError[] =>
    nanos(value) > nanos(capacity) ? [invalid(at, String(value), `option is larger than capacity value: ${capacity}`)] : [];
  errors.push(...validateSet(values, maxValues, path, (value) => String(whole(value)), isTooLarge));
  // Values that were too many to look at do not hold the standard either.
  const isKnown = values.length <= maxValues && values.some((value) => nanos(value) === nanos(standard));
  return isKnown ? errors : [...errors, invalid(path, String(standard), 'default value is not valid according to the requestPolicy')];
}

function validateRange({min, max, step}: Part, standard: Part, capacity: Part, path: string): FieldError[] {
  if (min === undefined) return [required(`${path}.min`, 'required when validRange is defined')];
  const errors: FieldError[] = [];
  const wrong = (field: string, value: Part, detail: string) => errors.push(invalid(`${path}.${field}`, String(value), detail));
  if (nanos(min) > nanos(capacity)) wrong('min', min, `min is larger than capacity value: ${capacity}`);
  if (nanos(standard) < nanos(min)) wrong('min', standard, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (nanos(min) > nanos(max)) wrong('max', min, `min is larger than max: ${max}`);
    if (nanos(max) > nanos(capacity)) wrong('max', max, `max is larger than capacity value: ${capacity}`);
    if (nanos(standard) > nanos(max)) wrong('max', standard, `default is more than max: ${max}`);
  }
  if (step === undefined) return errors;
  const added = nanos(min) + nanos(step);
  if (added > nanos(capacity)) wrong('step', step, `one step ${printQuantity(added, min)} is larger than capacity value: ${capacity}`);
  for (const value of max === undefined ? [standard] : [standard, max]) {
    // A step of nothing reaches nothing; the reference would divide by it.
    const isReached = whole(step) !== 0n && (whole(value) - whole(min)) % whole(step) === 0n;
    if (!isReached) wrong('step', value, `value is not a multiple of a given step (${step}) from (${min})`);
  }
  return errors;
}
