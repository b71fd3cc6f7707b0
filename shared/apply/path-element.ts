/**
 * One step of a field path as managedFields writes it: `f:` a member by name, `k:` an item of a list by its keys, `v:` by its value,
 * `i:` by its position. The text is the element: equal elements have equal texts.
 */
import type {Json, JsonObject} from '../object.ts';

export const memberElement = (name: string): string => `f:${name}`;
export const valueElement = (value: Json): string => `v:${jsonText(value)}`;
export const indexElement = (at: number): string => `i:${at}`;

/** Keys in order of their names, whatever the order in which they are listed. */
export function keyElement(keys: JsonObject): string {
  const names = Object.keys(keys);
  if (names.length === 1) return `k:{${jsonText(names[0]!)}:${jsonText(keys[names[0]!]!)}}`;
  return `k:{${names
    .sort()
    .map((name) => `${jsonText(name)}:${jsonText(keys[name]!)}`)
    .join(',')}}`;
}

/**
 * The element that a text from outside names, spelled as we spell it; undefined for kinds of elements that are not known (yet).
 * @throws SyntaxError for what names no element at all
 */
export function parseElement(text: string): string | undefined {
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(JSON.parse(text.slice(2)));
    case 'k': {
      const keys: unknown = JSON.parse(text.slice(2));
      if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) throw new SyntaxError(`not keys: ${text}`);
      return keyElement(keys as JsonObject);
    }
    case 'i':
      if (!/^[+-]?\d+$/.test(text.slice(2))) throw new SyntaxError(`not a position: ${text}`);
      return indexElement(Number(text.slice(2)));
    default:
      return undefined;
  }
}

/** Members before keys, keys before values, values before positions; each by what they hold, numbers as numbers. */
export function compareElements(one: string, other: string): number {
  if (one.startsWith('f') && other.startsWith('f')) return one < other ? -1 : one > other ? 1 : 0;
  const rank = 'fkvi'.indexOf(one[0]!) - 'fkvi'.indexOf(other[0]!);
  if (rank !== 0) return rank;
  const [left, right] = [JSON.parse(one.slice(2)) as Json, JSON.parse(other.slice(2)) as Json];
  if (!one.startsWith('k')) return compareValues(left, right);
  const [names, others] = [Object.keys(left as JsonObject), Object.keys(right as JsonObject)];
  for (let at = 0; at < names.length && at < others.length; at++) {
    const order =
      compareValues(names[at]!, others[at]!) || compareValues((left as JsonObject)[names[at]!]!, (right as JsonObject)[others[at]!]!);
    if (order !== 0) return order;
  }
  return names.length - others.length;
}

function compareValues(one: Json, other: Json): number {
  const rank = rankOf(one) - rankOf(other);
  if (rank !== 0) return rank;
  if (typeof one === 'object' || typeof other === 'object') {
    const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return one < other ? -1 : one > other ? 1 : 0;
}

const kinds = ['number', 'string', 'boolean'];
const rankOf = (value: Json): number =>
  value === null ? 5 : Array.isArray(value) ? 3 : typeof value === 'object' ? 4 : kinds.indexOf(typeof value);

const escaped: Record<string, string> = {'<': '\\u003c', '>': '\\u003e', '&': '\\u0026', '\u2028': '\\u2028', '\u2029': '\\u2029'};
/** Escaped as Go does it. */
const jsonText = (value: Json): string => {
  const text = JSON.stringify(value);
  return /[<>&\u2028\u2029]/.test(text) ? text.replace(/[<>&\u2028\u2029]/g, (char) => escaped[char]!) : text;
};
