/** What storage classes and volume attributes classes share: a driver, and settings that only the driver understands. */
import {type FieldError, invalid, required, tooLong} from '../../field-errors.ts';
import {qualified} from '../common/checks.ts';
import {entries, type Part} from '../common/loose.ts';
import {byteLength} from '../common/names.ts';

const maxParameters = 512;
const maxParametersBytes = 256 * 1024;

export const validateProvisioner = (name: string | undefined, path: string): FieldError[] =>
  name ? qualified(name.toLowerCase(), path) : [required(path)];

export function validateParameters(parameters: Part, path: string, needed: boolean): FieldError[] {
  const all = entries(parameters);
  if (all.length > maxParameters) return [tooLong(path, maxParameters)];
  const errors = all.filter(([key]) => key === '').map(([key]) => invalid(path, key, 'field can not be empty.'));
  const bytes = all.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  if (bytes > maxParametersBytes) errors.push(tooLong(path, maxParametersBytes));
  if (needed && all.length === 0) errors.push(required(path, 'must contain at least one key/value pair'));
  return errors;
}
