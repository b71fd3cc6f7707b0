/** Values as the reference shows them where its internal types have no JSON names: Go's field names, in Go's order, nothing left out. */
import type {Part} from './loose.ts';

/** Go's name, the name on the wire, and what stands there when it is absent; the fields of the struct, or of the structs of the list. */
export type GoField = readonly [go: string, wire: string, absent: '' | 0 | false | null, fields?: readonly GoField[]];

export function goShape(value: Part, fields: readonly GoField[] | undefined): Part {
  if (value === undefined || value === null || !fields) return value ?? null;
  if (Array.isArray(value)) return value.map((item) => goShape(item, fields));
  return Object.fromEntries(fields.map(([go, wire, absent, nested]) => [go, wire in value ? goShape(value[wire], nested) : absent]));
}
