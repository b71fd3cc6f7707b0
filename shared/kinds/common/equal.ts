/** Equality of objects as the reference sees it: an absent list, map, string, number or flag equals an empty one; key order is nothing. */

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Maps (not structs) of the API: here an empty one is the same as none. An empty struct behind a pointer is not. */
const maps = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'limits',
  'requests',
  'data',
  'binaryData',
  'stringData',
  'hard',
]);

const isNothing = (value: unknown, key: string): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (maps.has(key) && isObject(value) && !Object.keys(value).length);

export function sameJson(one: unknown, other: unknown, key = ''): boolean {
  if (one === other) return true;
  if (isNothing(one, key) || isNothing(other, key)) return isNothing(one, key) && isNothing(other, key);
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((item, index) => sameJson(item, other[index]))
    );
  if (!isObject(one) || !isObject(other)) return false;
  for (const name in one) if (!sameJson(one[name], other[name], name)) return false;
  for (const name in other) if (!(name in one) && !isNothing(other[name], name)) return false;
  return true;
}
