/** Values as Go's %v prints them: maps as `map[a:1 b:x]` with sorted keys, lists as `[1 2]`. Error messages quote patches so. */
import type {Json} from '../object.ts';

export function goPrint(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  if (typeof value === 'object')
    return `map[${Object.keys(value)
      .sort()
      .map((key) => `${key}:${goPrint(value[key]!)}`)
      .join(' ')}]`;
  return typeof value === 'number' ? printNumber(value) : String(value);
}

/** Exponents have two digits, and begin where Go's do. */
function printNumber(value: number): string {
  const size = Math.abs(value);
  const text = value !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** How Go names the dynamic type of a JSON value. */
export function goTypeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}
