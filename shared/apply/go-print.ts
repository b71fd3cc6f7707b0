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
  return String(value);
}
