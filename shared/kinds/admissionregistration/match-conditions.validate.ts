/** Conditions in CEL that say which requests are meant. Their expressions are compiled elsewhere. */
import {duplicate, type FieldError, required, tooMany} from '../../field-errors.ts';
import {qualified} from '../common/checks.ts';
import {list, type Part} from '../common/loose.ts';

const maxConditions = 64;

export function validateMatchConditions(given: Part, path: string): FieldError[] {
  const conditions = list(given);
  const errors = conditions.length > maxConditions ? [tooMany(path, conditions.length, maxConditions)] : [];
  const names = new Set<string>();
  for (const [index, {name = '', expression = ''}] of conditions.entries()) {
    const at = `${path}[${index}]`;
    if (!expression.trim()) errors.push(required(`${at}.expression`));
    if (!name) {
      errors.push(required(`${at}.name`));
      continue;
    }
    errors.push(...qualified(name, `${at}.name`));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
  }
  return errors;
}
