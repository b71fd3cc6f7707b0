/** Equality of JSON values to the letter: null is not an empty list, an absent member is not a null one; the order of members is nothing. */
import type {Json} from '../object.ts';

export function equalJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null || !one || !other) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let at = 0; at < one.length; at++) if (!equalJson(one[at], other[at])) return false;
    return true;
  }
  if (Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  for (const name of names) if (!Object.hasOwn(other, name) || !equalJson(one[name], other[name])) return false;
  return true;
}
