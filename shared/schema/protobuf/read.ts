/**
 * From a protobuf message to an object's JSON, loosely: what ../decode.ts then brings into normal form. One reader per field, made when its
 * type is first met.
 */
import type {Json, JsonObject} from '../../object.ts';
import {DecodeError} from '../decode.ts';
import {JsonError, parseJson, setKey} from '../json.ts';
import {printDuration} from '../special.ts';
import {type Field, type StructType, type Type, typeByRef} from '../types.ts';
import {fieldsByNumber, wireBytes, wireFixed64, wireVarint} from './model.ts';
import {type FieldReader, type Fields, inGoWords, readFields, Source, type ValueReader} from './source.ts';

const compiled = new Map<string, Fields>();

/** @throws DecodeError in the reference's words */
export function readMessage(bytes: Uint8Array, type: StructType): JsonObject {
  return inGoWords(() => {
    const object: JsonObject = {};
    readStruct(new Source(bytes), type, object);
    return object;
  });
}

function readStruct(source: Source, type: StructType, into: JsonObject): void {
  let fields = compiled.get(type.ref);
  if (!fields) {
    fields = new Map(fieldsByNumber(type).map((field) => [field.proto!, fieldReader(field)]));
    compiled.set(type.ref, fields);
  }
  source.count();
  readFields(source, type.name, fields, into);
}

function fieldReader(field: Field): FieldReader {
  const {name, type} = field;
  const goName = field.inline || name === 'metadata' ? nameOf(type) : name.charAt(0).toUpperCase() + name.slice(1);
  if (field.inline && type.kind === 'struct')
    return {goName, wireType: wireBytes, read: (source, parent) => void readNested(source, type, parent)};
  if (type.kind === 'list' && !type.asMessage) return listReader(name, goName, type.of);
  if (type.kind === 'map') return mapReader(name, goName, type.of);
  const value = valueReader(type);
  return {
    goName,
    wireType: wireTypeOf(type),
    read(source, parent) {
      parent[name] = value(source, parent[name]);
    },
  };
}

const nameOf = (type: Type): string => (type.kind === 'struct' ? type.name : type.goName);

function listReader(name: string, goName: string, of: Type): FieldReader {
  const item = valueReader(of);
  const wireType = wireTypeOf(of);
  const listIn = (parent: JsonObject) => {
    parent[name] ??= [];
    return parent[name] as Json[];
  };
  const read = (source: Source, parent: JsonObject) => void listIn(parent).push(item(source, undefined));
  if (wireType === wireBytes) return {goName, wireType, read};
  return {
    goName,
    wireType,
    read,
    readPacked(source, parent) {
      const outer = source.enter();
      while (!source.atEnd) read(source, parent);
      source.leave(outer);
    },
  };
}

/** Entries are messages of key and value; either may be missing, the last one of a key wins. */
function mapReader(name: string, goName: string, of: Type): FieldReader {
  const value = valueReader(of);
  const valueWire = wireTypeOf(of);
  const empty = emptyOf(of);
  return {
    goName,
    wireType: wireBytes,
    read(source, parent) {
      const {reader} = source;
      parent[name] ??= {};
      let key = '';
      let found: Json | undefined;
      const outer = source.enter();
      while (!source.atEnd) {
        const tag = reader.tag();
        if (tag === 10) key = reader.string();
        else if (tag === ((2 << 3) | valueWire)) found = value(source, undefined);
        else reader.skipType(tag & 7, 0, tag >>> 3);
      }
      source.leave(outer);
      setKey(parent[name] as JsonObject, key, found ?? (typeof empty === 'object' ? structuredClone(empty) : empty));
    },
  };
}

const emptyOf = (type: Type): Json => {
  switch (type.kind) {
    case 'string':
    case 'bytes':
      return '';
    case 'struct':
      return {};
    case 'quantity':
      return '0';
    case 'list':
      return [];
    default:
      return null;
  }
};

const wireTypeOf = (type: Type): number => {
  switch (type.kind) {
    case 'bool':
    case 'int32':
    case 'int64':
      return wireVarint;
    case 'double':
      return wireFixed64;
    default:
      return wireBytes;
  }
};

function valueReader(type: Type): ValueReader {
  switch (type.kind) {
    case 'string':
      return ({reader}) => reader.string();
    case 'bytes':
      return ({reader}) => (reader.bytes() as Buffer).toString('base64');
    case 'bool':
      return ({reader}) => reader.bool();
    case 'int32':
      return ({reader}) => reader.int32();
    case 'int64':
      return readInt64;
    case 'double':
      return ({reader}) => reader.double();
    case 'struct':
      return (source, before) => readNested(source, type, (before ?? {}) as JsonObject);
    case 'list': {
      const items = new Map([[1, listReader('items', 'Items', type.of)]]);
      return (source) => {
        const outer = source.enter();
        const message: JsonObject = {items: []};
        readFields(source, nameOf(type), items, message);
        source.leave(outer);
        return message['items']!;
      };
    }
    case 'map':
      throw new Error(`no protobuf form of ${type.goName}`);
    default:
      return specialReader(type.kind, type.goName);
  }
}

function readNested(source: Source, type: StructType, into: JsonObject): JsonObject {
  const outer = source.enter();
  readStruct(source, type, into);
  source.leave(outer);
  return into;
}

/** A JSON number, exact to 2^53 and as near as a double comes beyond. */
function readInt64({reader}: Source): number {
  const value = reader.int64() as unknown as number | {toNumber(): number};
  return typeof value === 'number' ? value : value.toNumber();
}

const stringType: Type = {kind: 'string', goName: 'string'};
const int32Type: Type = {kind: 'int32', goName: 'int32'};
const int64Type: Type = {kind: 'int64', goName: 'int64'};
const boolType: Type = {kind: 'bool', goName: 'bool'};
const schemaType = (): StructType => typeByRef('apiextensions/v1.JSONSchemaProps') as StructType;
const listOf = (of: Type): Type => ({kind: 'list', of, goName: `[]${of.goName}`});

/** Reads the message behind a type whose JSON is its own, and makes that JSON of its members. */
function membersReader(
  message: string,
  members: Record<string, [number: number, type: Type]>,
  toJson: (found: JsonObject) => Json,
): ValueReader {
  const fields: Fields = new Map(
    Object.entries(members).map(([name, [number, type]]) => [number, fieldReader({name, type, inline: false} as unknown as Field)]),
  );
  return (source) => {
    const found: JsonObject = {};
    const outer = source.enter();
    readFields(source, message, fields, found);
    source.leave(outer);
    return toJson(found);
  };
}

function specialReader(kind: Exclude<Type['kind'], 'list' | 'map' | 'struct'>, goName: string): ValueReader {
  const message = goName.slice(goName.indexOf('.') + 1);
  switch (kind) {
    case 'time':
    case 'microTime':
      return membersReader('Timestamp', {seconds: [1, int64Type], nanos: [2, int32Type]}, (found) => timeOf(found, kind));
    case 'duration':
      return readDuration;
    case 'quantity':
      return membersReader(message, {string: [1, stringType]}, ({string}) => string || '0');
    case 'intOrString':
      return membersReader(message, {type: [1, int64Type], intVal: [2, int32Type], strVal: [3, stringType]}, intOrString);
    case 'schemaOrBool':
      return membersReader(message, {allows: [1, boolType], schema: [2, schemaType()]}, ({allows, schema}) => schema ?? allows === true);
    case 'schemaOrArray':
      return membersReader(
        message,
        {schema: [1, schemaType()], list: [2, listOf(schemaType())]},
        ({schema, list}) => list ?? schema ?? null,
      );
    case 'schemaOrStringArray':
      return membersReader(message, {schema: [1, schemaType()], list: [2, listOf(stringType)]}, ({schema, list}) => list ?? schema ?? null);
    default:
      return readDocument;
  }
}

/** The years that RFC 3339 can spell. */
const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59Z');

/** An empty message is the zero time. Only MicroTime keeps a fraction. */
function timeOf({seconds, nanos}: JsonObject, kind: 'time' | 'microTime'): Json {
  if (seconds === undefined && nanos === undefined) return null;
  const micros = kind === 'time' ? 0 : Math.trunc(((nanos as number | undefined) ?? 0) / 1000);
  const carried = Math.floor(micros / 1_000_000);
  const ms = (((seconds as number | undefined) ?? 0) + carried) * 1000;
  if (!(ms >= firstMs && ms <= lastMs)) throw new DecodeError('proto: time is out of range');
  const text = new Date(ms).toISOString().slice(0, 19);
  return kind === 'time' ? `${text}Z` : `${text}.${String(micros - carried * 1_000_000).padStart(6, '0')}Z`;
}

/** Beyond a hundred days the nanoseconds leave what a number holds exactly. */
function readDuration(source: Source): Json {
  const {reader} = source;
  let nanos = 0n;
  const outer = source.enter();
  while (!source.atEnd) {
    const tag = reader.tag();
    if (tag === 8) nanos = BigInt(String(reader.int64()));
    else reader.skipType(tag & 7, 0, tag >>> 3);
  }
  source.leave(outer);
  return printDuration(nanos);
}

function intOrString({type = 0, intVal = 0, strVal = ''}: JsonObject): Json {
  if (type !== 0 && type !== 1) throw new DecodeError('impossible IntOrString.Type');
  return type === 0 ? intVal : strVal;
}

/** Raw documents are JSON in bytes. */
function readDocument(source: Source): Json {
  let raw: Uint8Array | undefined;
  const outer = source.enter();
  const {reader} = source;
  while (!source.atEnd) {
    const tag = reader.tag();
    if (tag === 10) raw = reader.bytes();
    else reader.skipType(tag & 7, 0, tag >>> 3);
  }
  source.leave(outer);
  if (!raw || raw.length === 0) return null;
  try {
    return parseJson(raw).value;
  } catch (error) {
    if (error instanceof JsonError) throw new DecodeError(error.message);
    throw error;
  }
}
