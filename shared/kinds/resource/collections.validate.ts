/** Bounded lists, sets and maps, as every kind of this group has them. A collection that is too large is not looked into. */
import {duplicate, type FieldError, tooMany} from '../../field-errors.ts';
import {entries, list, type Part} from '../common/loose.ts';

type Check = (item: Part, path: string) => FieldError[];

export function validateList(given: Part, most: number, path: string, check: Check): FieldError[] {
  const items = list(given);
  if (items.length > most) return [tooMany(path, items.length, most)];
  return items.flatMap((item, index) => check(item, `${path}[${index}]`));
}

/** `keyOf` tells what may stand once only. */
export function validateSet(given: Part, most: number, path: string, keyOf: (item: Part) => unknown, check: Check): FieldError[] {
  const items = list(given);
  if (items.length > most) return [tooMany(path, items.length, most)];
  const errors = items.flatMap((item, index) => check(item, `${path}[${index}]`));
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    const identity = JSON.stringify(key);
    if (seen.has(identity)) errors.push(duplicate(`${path}[${index}]`, key));
    seen.add(identity);
  }
  return errors;
}

/** Keys are told under the path of the map, values under their own. */
export function validateMap(
  given: Part,
  options: {most: number; longestKey: number; path: string},
  checkKey: (key: string, path: string) => FieldError[],
  check: Check,
): FieldError[] {
  const items = entries(given);
  const {most, longestKey, path} = options;
  if (items.length > most) return [tooMany(path, items.length, most)];
  return items.flatMap(([key, item]) => [...checkKey(key, path), ...check(item, `${path}[${shortened(key, longestKey)}]`)]);
}

function shortened(text: string, given: number): string {
  const longest = Math.max(given, 16);
  if (text.length <= longest) return text;
  const rest = longest - '...'.length;
  return `${text.slice(0, Math.floor((rest + 1) / 2))}...${text.slice(text.length - Math.floor(rest / 2))}`;
}
