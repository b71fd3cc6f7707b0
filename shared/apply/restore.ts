/**
 * What is wrong with the result of a strategic merge, in the words of the reference: it takes such a result from a tree of values straight
 * into its types, where it decodes all others from text, and so words the same mistakes otherwise. Types with a JSON of their own
 * (times, quantities, ...) are left to decoding, which says the same about them.
 */
import type {Json, JsonObject} from '../object.ts';
import type {ScalarType, Type} from '../schema/types.ts';

/** The first thing that does not fit its type; undefined when decoding may go on. */
export function restoreRefusal(value: Json | undefined, type: Type): string | undefined {
  if (value === undefined || value === null) return undefined;
  switch (type.kind) {
    case 'struct':
      return isObject(value) ? structRefusal(value, type) : `cannot restore struct from: ${kindOf(value)}`;
    case 'map':
      return isObject(value) ? firstRefusal(Object.values(value), type.of) : `cannot restore map from ${kindOf(value)}`;
    case 'list':
      return Array.isArray(value) ? firstRefusal(value, type.of) : `cannot restore slice from ${kindOf(value)}`;
    case 'bytes':
      return typeof value === 'string' ? undefined : `cannot restore slice from ${kindOf(value)}`;
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'double':
      return scalarRefusal(value, type);
    default:
      return undefined;
  }
}

function structRefusal(value: JsonObject, type: Type & {kind: 'struct'}): string | undefined {
  for (const field of type.fields) {
    const refusal = Object.hasOwn(value, field.name) ? restoreRefusal(value[field.name], field.type) : undefined;
    if (refusal) return refusal;
  }
  return undefined;
}

function firstRefusal(values: readonly Json[], type: Type): string | undefined {
  for (const value of values) {
    const refusal = restoreRefusal(value, type);
    if (refusal) return refusal;
  }
  return undefined;
}

const goKinds: Record<string, string> = {double: 'float64'};

/** What Go could convert but JSON does not is refused as a conversion, all else as a kind that nobody knows. */
function scalarRefusal(value: Json, {kind, goName}: ScalarType): string | undefined {
  const given = kindOf(value);
  if (given === (goKinds[kind] ?? kind)) return undefined;
  const isNumber = typeof value === 'number';
  if (isNumber && (kind === 'double' || ((kind === 'int32' || kind === 'int64') && Number.isInteger(value)))) return undefined;
  const couldConvert = isNumber && (given === 'int64' ? kind === 'string' : kind === 'int32' || kind === 'int64');
  return couldConvert ? `cannot convert ${given} to ${goName}` : `unrecognized type: ${goKinds[kind] ?? kind}`;
}

/** Go's kind of a JSON value. */
function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'object') return 'map';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
