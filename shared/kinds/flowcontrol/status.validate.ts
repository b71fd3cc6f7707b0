/** Conditions of flow schemas and priority levels: each type once. */
import {duplicate, type FieldError, required} from '../../field-errors.ts';
import {list, type Part} from '../common/loose.ts';

export function validateStatus(status: Part): FieldError[] {
  const seen = new Set<string>();
  return list(status?.conditions).flatMap(({type = ''}, index) => {
    const path = `status.conditions[${index}].type`;
    const errors = seen.has(type) ? [duplicate(path, type)] : [];
    seen.add(type);
    return type ? errors : [...errors, required(path)];
  });
}
