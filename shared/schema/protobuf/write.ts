/**
 * From an object's JSON to its protobuf message, byte for byte as the reference writes it: fields that are no pointers always, zero or
 * not; the keys of maps sorted. One function per field, made when its type is first met. Envelopes are in protobuf.ts.
 */
import protobuf, {type Writer} from 'protobufjs/minimal.js';
import type {Json, JsonObject} from '../../object.ts';
import {durationNanos} from '../special.ts';
import type {Field, StructType, Type} from '../types.ts';
import {typeByRef} from '../types.ts';
import {fieldsByNumber, wireBytes, wireFixed64, wireVarint} from './model.ts';

type FieldWriter = (writer: Writer, parent: JsonObject) => void;
/** Writes tag and value. */
type ValueWriter = (writer: Writer, value: Json) => void;

const compiled = new Map<string, FieldWriter[]>();

/** A buffer larger than this is not kept for the next message. */
const keptBufferBytes = 256 * 1024;
let idle: Writer | undefined;

/** Runs `write` on a writer whose buffer is used again; the result is a copy. */
export function written<T>(write: (writer: Writer) => void, finish: (writer: Writer) => T): T {
  // Taken, not shared: what throws half way, or asks for another one meanwhile, gets its own.
  const writer = idle ?? new protobuf.BufferWriter();
  idle = undefined;
  write(writer);
  const result = finish(writer);
  if ((writer as unknown as {buf: Uint8Array}).buf.length <= keptBufferBytes) idle = writer.reset();
  return result;
}

export function writeStruct(writer: Writer, type: StructType, object: JsonObject): void {
  let fields = compiled.get(type.ref);
  if (!fields) {
    fields = fieldsByNumber(type).map(fieldWriter);
    compiled.set(type.ref, fields);
  }
  for (const write of fields) write(writer, object);
}

function fieldWriter(field: Field): FieldWriter {
  const {name, type, pointer} = field;
  const number = field.proto!;
  if (field.inline && type.kind === 'struct') {
    const write = structWriter(number, type);
    return (writer, parent) => write(writer, parent);
  }
  if (type.kind === 'list') {
    const write = type.asMessage ? valueWriter(number, type) : undefined;
    if (write)
      return (writer, parent) => {
        const value = parent[name];
        if (value !== undefined && value !== null) write(writer, value);
      };
    const writeItem = valueWriter(number, type.of);
    return (writer, parent) => {
      const value = parent[name];
      if (Array.isArray(value)) for (const item of value) writeItem(writer, item);
    };
  }
  if (type.kind === 'map') return mapWriter(name, number, type.of);
  const write = valueWriter(number, type);
  if (pointer || type.kind === 'bytes')
    return (writer, parent) => {
      const value = parent[name];
      if (value !== undefined && value !== null) write(writer, value);
    };
  const zero = zeroOf(type);
  return (writer, parent) => write(writer, parent[name] ?? zero);
}

function zeroOf(type: Type): Json {
  switch (type.kind) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    case 'struct':
      return {};
    default:
      return null;
  }
}

function mapWriter(name: string, number: number, of: Type): FieldWriter {
  const tag = (number << 3) | wireBytes;
  const write = valueWriter(2, of);
  const writesNull = of.kind !== 'bytes';
  const zero = zeroOf(of);
  return (writer, parent) => {
    const map = parent[name] as JsonObject | null | undefined;
    if (map === undefined || map === null) return;
    for (const key of sortedKeys(map)) {
      const value = map[key] ?? zero;
      writer.uint32(tag).fork().uint32(10).string(key);
      if (writesNull || value !== null) write(writer, value);
      writer.ldelim();
    }
  };
}

const surrogate = /[\ud800-\udfff]/;

/** Go sorts bytes. Code units sort alike but for what lies beyond the basic plane. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  return keys.some((key) => surrogate.test(key)) ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : keys.sort();
}

function valueWriter(number: number, type: Type): ValueWriter {
  const bytes = (number << 3) | wireBytes;
  const varint = (number << 3) | wireVarint;
  switch (type.kind) {
    case 'string':
      return (writer, value) => writer.uint32(bytes).string(value as string);
    case 'bytes':
      return (writer, value) => writer.uint32(bytes).bytes(Buffer.from(value as string, 'base64'));
    case 'bool':
      return (writer, value) => writer.uint32(varint).bool(value === true);
    case 'int32':
      return (writer, value) => writer.uint32(varint).int32(value as number);
    case 'int64':
      return (writer, value) => writeInt64(writer.uint32(varint), value as number);
    case 'double':
      return (writer, value) => writer.uint32((number << 3) | wireFixed64).double(value as number);
    case 'struct':
      return structWriter(number, type) as ValueWriter;
    case 'list': {
      const writeItem = valueWriter(1, type.of);
      return (writer, value) => {
        writer.uint32(bytes).fork();
        for (const item of value as Json[]) writeItem(writer, item);
        writer.ldelim();
      };
    }
    case 'map':
      throw new Error(`no protobuf form of ${type.goName}`);
    default: {
      const write = specialWriter(type.kind);
      return (writer, value) => {
        writer.uint32(bytes).fork();
        write(writer, value);
        writer.ldelim();
      };
    }
  }
}

const structWriter = (number: number, type: StructType) => {
  const tag = (number << 3) | wireBytes;
  return (writer: Writer, value: Json) => {
    writer.uint32(tag).fork();
    writeStruct(writer, type, (value ?? {}) as JsonObject);
    writer.ldelim();
  };
};

function writeInt64(writer: Writer, value: number): void {
  if (value >= 0 && value <= 0xffffffff) writer.uint32(value);
  else writer.int64(value);
}

/** The members of a special type's message. */
function specialWriter(kind: Exclude<Type['kind'], 'list' | 'map' | 'struct'>): (writer: Writer, value: Json) => void {
  switch (kind) {
    case 'time':
    case 'microTime':
      return writeTime;
    case 'duration':
      return (writer, value) => {
        // As text: beyond a hundred days the nanoseconds leave what a number holds exactly.
        writer.uint32(8).int64(String(durationNanos(value as string) ?? 0n));
      };
    case 'quantity':
      return (writer, value) => {
        writer.uint32(10).string(String(value));
      };
    case 'intOrString':
      return (writer, value) => {
        const isText = typeof value === 'string';
        writer.uint32(8).uint32(isText ? 1 : 0);
        writer.uint32(16).int32(isText ? 0 : (value as number));
        writer.uint32(26).string(isText ? value : '');
      };
    case 'schemaOrBool':
      return (writer, value) => {
        const isSchema = typeof value === 'object' && value !== null;
        writer.uint32(8).bool(isSchema || value === true);
        if (isSchema) schemaWriter(2)(writer, value);
      };
    case 'schemaOrArray':
      return (writer, value) => {
        if (Array.isArray(value)) for (const item of value) schemaWriter(2)(writer, item);
        else if (value !== null) schemaWriter(1)(writer, value);
      };
    case 'schemaOrStringArray':
      return (writer, value) => {
        if (Array.isArray(value)) for (const item of value) writer.uint32(18).string(item as string);
        else if (value !== null) schemaWriter(1)(writer, value);
      };
    default:
      // Raw documents: RawExtension, FieldsV1, JSON.
      return (writer, value) => {
        if (value !== null && value !== undefined) writer.uint32(10).bytes(Buffer.from(JSON.stringify(value)));
      };
  }
}

const schemaWriter = (number: number) => structWriter(number, typeByRef('apiextensions/v1.JSONSchemaProps') as StructType);

/** A zero time is an empty message. */
function writeTime(writer: Writer, value: Json): void {
  if (typeof value !== 'string') return;
  const seconds = Date.parse(`${value.slice(0, 19)}Z`) / 1000;
  const fraction = value.length > 20 ? Number(value.slice(20, 26).replace(/\D.*$/, '').padEnd(6, '0')) : 0;
  writeInt64(writer.uint32(8), seconds);
  writer.uint32(16).uint32(fraction * 1000);
}
