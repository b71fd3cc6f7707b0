/**
 * A parsed document as Go would print it after decoding: fields in the type's order, nulls and empty optional values gone, zero values of
 * the others filled in, quantities and times in their normal spelling. Made for speed: each type becomes a function once, and what does
 * not fit is only noticed here. Saying what is wrong, and where, is diagnose.ts.
 */
import type {Json, JsonObject} from '../object.ts';
import {canonicalBase64} from './base64.ts';
import {setKey} from './document.ts';
import {readSpecial, zeroOfSpecial} from './special.ts';
import type {Field, ListType, MapType, StructType, Type} from './types.ts';

/** The value does not fit its type. Carries no words, and no stack: it is thrown where speed counts. */
export const misfit: unique symbol = Symbol('misfit');

/** Set when a member was met that its type does not have. One per call of normalizeAs: nothing here waits. */
let metUnknown = false;

/** @throws misfit */
export function normalizeAs(value: Json, type: StructType): {object: JsonObject; unknown: boolean} {
  metUnknown = false;
  const object = readerOf(type)(value) as JsonObject;
  return {object, unknown: metUnknown};
}

/** Never given null: what null means is up to the holder. */
type Reader = (given: Json) => Json;

const readers = new WeakMap<Type, Reader>();

function readerOf(type: Type): Reader {
  let reader = readers.get(type);
  if (!reader) {
    reader = makeReader(type);
    readers.set(type, reader);
  }
  return reader;
}

function makeReader(type: Type): Reader {
  switch (type.kind) {
    case 'string':
      return (given) => (typeof given === 'string' ? given : refuse());
    case 'bool':
      return (given) => (typeof given === 'boolean' ? given : refuse());
    case 'int32':
      return (given) => (typeof given === 'number' && (given | 0) === given ? given : refuse());
    case 'int64':
      return readInt64;
    case 'double':
      return (given) => (typeof given === 'number' && Number.isFinite(given) ? given : refuse());
    case 'bytes':
      return readBytes;
    case 'struct':
      return structReader(type);
    case 'list':
      return listReader(type);
    case 'map':
      return mapReader(type);
    case 'any':
    case 'raw':
    case 'fieldsV1':
      return (given) => given;
    default: {
      const {kind} = type;
      return (given) => {
        const value = readSpecial(given, kind, readNested);
        return value === undefined ? refuse() : value;
      };
    }
  }
}

function refuse(): never {
  throw misfit;
}

/** A struct within a type that reads itself: its unknown members are nobody's business, there as here. */
function readNested(given: Json, type: StructType): Json {
  const before = metUnknown;
  const value = readerOf(type)(given);
  metUnknown = before;
  return value;
}

const minInt64 = -(2 ** 63);
const maxInt64 = 2 ** 63;
/** The last double below 2^63. */
const largestInt64 = 2 ** 63 - 1024;

/** Beyond 2^53 neighbours become one: taken as close as a double can say it, and never out of a client's range. */
function readInt64(given: Json): Json {
  if (typeof given !== 'number' || !Number.isInteger(given) || given < minInt64 || given > maxInt64) throw misfit;
  return given === maxInt64 ? largestInt64 : given;
}

function readBytes(given: Json): Json {
  if (typeof given === 'string') return canonicalBase64(given) ?? refuse();
  if (!Array.isArray(given)) throw misfit;
  // Go takes lists of small numbers for bytes.
  for (const item of given) if (item !== null && (typeof item !== 'number' || (item & 255) !== item)) throw misfit;
  return Buffer.from(given.map(Number)).toString('base64');
}

interface Row {
  name: string;
  read: Reader;
  /** What stands for a value that is not there; undefined: nothing. */
  absent: (() => Json) | undefined;
  dropsEmpty: boolean;
  dropsNull: boolean;
}

/** Empty maps and lists that were written and dropped: rare, and gone with the object. */
const emptied = new WeakMap<JsonObject, Record<string, Json>>();

function noteEmpty(parent: JsonObject, field: string, value: Json): void {
  const noted = emptied.get(parent);
  if (noted) noted[field] = value;
  else emptied.set(parent, {[field]: value});
}

/** The value of a field as an error quotes it: what was written empty is `{}` or `[]`, what was not written null. */
export const quotable = (parent: JsonObject | undefined, field: string): Json =>
  (parent && (parent[field] ?? emptied.get(parent)?.[field])) ?? null;

function structReader(type: StructType): Reader {
  let rows: readonly Row[] | undefined;
  return (given) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) throw misfit;
    // Types refer to each other in circles: their rows are made when first needed.
    rows ??= type.fields.map(rowOf);
    const out: JsonObject = {};
    let known = 0;
    for (const {name, read, absent, dropsEmpty, dropsNull} of rows) {
      const item = given[name];
      if (item === undefined || item === null) {
        if (item === null) known++;
        if (absent) out[name] = absent();
        continue;
      }
      known++;
      const value = read(item);
      if (dropsEmpty ? isEmpty(value) : dropsNull && value === null) {
        if (typeof value === 'object' && value !== null) noteEmpty(out, name, value);
        continue;
      }
      out[name] = value;
    }
    if (!metUnknown) {
      for (const _key in given) known--;
      if (known < 0) metUnknown = true;
    }
    return out;
  };
}

function rowOf(field: Field): Row {
  const {name, type, pointer, omitempty, omitzero} = field;
  const optional = omitempty && (pointer || isEmptyable(type));
  const absent = optional || omitzero ? undefined : pointer ? () => null : () => zeroOf(type);
  return {name, read: readerOf(type), absent, dropsEmpty: omitempty && !pointer && isEmptyable(type), dropsNull: omitzero};
}

/** Go's omitempty drops these when they are empty; it has no effect on structs. */
function isEmptyable({kind}: Type): boolean {
  switch (kind) {
    case 'struct':
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
    case 'duration':
    case 'raw':
    case 'any':
      return false;
    default:
      return true;
  }
}

function isEmpty(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _key in value) return false;
  return true;
}

function zeroOf(type: Type): Json {
  switch (type.kind) {
    case 'struct':
      return readerOf(type)({});
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
      return 0;
    case 'bytes':
    case 'list':
    case 'map':
      return null;
    default:
      return zeroOfSpecial(type.kind);
  }
}

function listReader({of}: ListType): Reader {
  const read = readerOf(of);
  return (given) => {
    if (!Array.isArray(given)) throw misfit;
    const out: Json[] = new Array(given.length);
    for (let at = 0; at < given.length; at++) {
      const item = given[at]!;
      out[at] = item === null ? zeroOf(of) : read(item);
    }
    return out;
  };
}

/** Keys in order, as Go prints them. (JavaScript puts those that look like small numbers first, whatever one does.) */
function mapReader({of}: MapType): Reader {
  if (of.kind === 'string') return stringMap;
  let read: Reader | undefined;
  return (given) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) throw misfit;
    read ??= readerOf(of);
    const out: JsonObject = {};
    for (const key of Object.keys(given).sort()) {
      const item = given[key]!;
      setKey(out, key, item === null ? zeroOf(of) : read(item));
    }
    return out;
  };
}

/** By far the most maps: copied as a whole where they are in order already. */
function stringMap(given: Json): Json {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw misfit;
  let before = '';
  let asIs = true;
  for (const key in given) {
    const item = given[key];
    if (typeof item !== 'string') {
      if (item !== null) throw misfit;
      asIs = false;
    }
    if (key < before) asIs = false;
    before = key;
  }
  if (asIs) return {...given};
  const out: JsonObject = {};
  for (const key of Object.keys(given).sort()) setKey(out, key, given[key] ?? '');
  return out;
}
