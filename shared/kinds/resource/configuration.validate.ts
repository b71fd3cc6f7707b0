/** What classes and claims share: selectors (whose CEL is compiled elsewhere), and settings that only the driver understands. */
import {type FieldError, invalid, required, tooLong} from '../../field-errors.ts';
import type {Part} from '../common/loose.ts';
import {byteLength} from '../common/names.ts';
import {csiDriverName} from '../common/volume-sources.ts';
import {validateList} from './collections.validate.ts';

const maxSelectors = 32;
export const maxConfigurations = 32;
const maxExpressionBytes = 10 * 1024;
const maxParametersBytes = 10 * 1024;

export const validateSelectors = (selectors: Part, path: string): FieldError[] =>
  validateList(selectors, maxSelectors, path, ({cel}, at) => {
    if (!cel) return [required(`${at}.cel`)];
    return byteLength(cel.expression ?? '') > maxExpressionBytes ? [tooLong(`${at}.cel.expression`, maxExpressionBytes)] : [];
  });

/** `stored`: it stands in the stored object already, and may be longer than a new one. */
export function validateConfiguration({opaque}: Part, path: string, stored = false): FieldError[] {
  if (!opaque) return [required(`${path}.opaque`)];
  const at = `${path}.opaque.parameters`;
  return [
    ...csiDriverName(opaque.driver ?? '', `${path}.opaque.driver`),
    ...validateRaw(opaque.parameters, at, maxParametersBytes, stored),
  ];
}

/** A JSON object as its sender wrote it. */
export function validateRaw(value: Part, path: string, maxBytes: number, stored = false): FieldError[] {
  if (value === undefined || value === null) return [required(path)];
  if (!stored && byteLength(JSON.stringify(value)) > maxBytes) return [tooLong(path, maxBytes)];
  const isObject = typeof value === 'object' && !Array.isArray(value);
  return isObject ? [] : [invalid(path, '<value omitted>', 'must be a valid JSON object')];
}
