/**
 * Protobuf by data: a message is a list of fields, read and written by one loop over protobufjs' reader and writer. Zero values are not
 * written, and come back as the field's zero; a message that was not sent comes back as undefined.
 */
import protobuf from 'protobufjs/minimal.js';

type Scalar = 'string' | 'bool' | 'bytes' | 'int32' | 'uint32' | 'int64' | 'uint64';

interface Field {
  number: number;
  name: string;
  repeated: boolean;
  map: boolean;
  scalar: Scalar | undefined;
  message: Message | undefined;
}

export interface Message {
  name: string;
  fields: Field[];
  byNumber: Map<number, Field>;
}

const scalars: ReadonlySet<string> = new Set(['string', 'bool', 'bytes', 'int32', 'uint32', 'int64', 'uint64']);
const wireOf: Readonly<Record<Scalar, number>> = {string: 2, bool: 0, bytes: 2, int32: 0, uint32: 0, int64: 0, uint64: 0};
const noBytes = new Uint8Array(0);

/** @throws Error for a type that is not defined */
export function compile<Name extends string>(definitions: Readonly<Record<Name, string>>): Record<Name, Message> {
  const messages = {} as Record<string, Message>;
  for (const name of Object.keys(definitions)) messages[name] = {name, fields: [], byNumber: new Map()};
  for (const [name, text] of Object.entries<string>(definitions)) {
    for (const part of text.split(',').filter(Boolean)) {
      const [number, field, type] = part.split(' ') as [string, string, string];
      const bare = type.replace(/^\[\]/, '');
      const made: Field = {
        number: Number(number),
        name: field,
        repeated: type.startsWith('[]'),
        map: type === '{}',
        scalar: scalars.has(bare) ? (bare as Scalar) : undefined,
        message: messages[bare],
      };
      if (!made.map && !made.scalar && !made.message) throw new Error(`${name}.${field}: no type ${type}`);
      messages[name]!.fields.push(made);
      messages[name]!.byNumber.set(made.number, made);
    }
  }
  return messages;
}

type Value = unknown;
type Fields = Record<string, Value>;

export function encode(message: Message, value: object): Uint8Array {
  const writer = protobuf.Writer.create();
  write(writer, message, value as Fields);
  return writer.finish();
}

function write(writer: protobuf.Writer, message: Message, value: Fields): void {
  for (const field of message.fields) {
    const given = value[field.name];
    if (given === undefined || given === null) continue;
    if (field.map) writeMap(writer, field.number, given as Record<string, string>);
    else if (field.repeated) writeList(writer, field, given as Value[]);
    else if (field.message) writeMessage(writer, field, given as Fields);
    else if (!isZero(given)) writeScalar(writer.uint32((field.number << 3) | wireOf[field.scalar!]), field.scalar!, given);
  }
}

const isZero = (value: Value): boolean =>
  value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0);

function writeMap(writer: protobuf.Writer, number: number, map: Record<string, string>): void {
  for (const [key, value] of Object.entries(map)) {
    writer.uint32((number << 3) | 2).fork();
    writer.uint32(10).string(key).uint32(18).string(value).ldelim();
  }
}

function writeList(writer: protobuf.Writer, field: Field, list: readonly Value[]): void {
  if (list.length === 0) return;
  if (field.scalar && wireOf[field.scalar] === 0) {
    writer.uint32((field.number << 3) | 2).fork();
    for (const item of list) writeScalar(writer, field.scalar, item);
    writer.ldelim();
    return;
  }
  for (const item of list) {
    if (field.message) writeMessage(writer, field, item as Fields);
    else writeScalar(writer.uint32((field.number << 3) | 2), field.scalar!, item);
  }
}

function writeMessage(writer: protobuf.Writer, field: Field, value: Fields): void {
  writer.uint32((field.number << 3) | 2).fork();
  write(writer, field.message!, value);
  writer.ldelim();
}

function writeScalar(writer: protobuf.Writer, scalar: Scalar, value: Value): void {
  if (scalar === 'string') writer.string(value as string);
  else if (scalar === 'bool') writer.bool(value as boolean);
  else if (scalar === 'bytes') writer.bytes(value as Uint8Array);
  else if (scalar === 'int32') writer.int32(value as number);
  else if (scalar === 'uint32') writer.uint32(value as number);
  else if (scalar === 'int64') writer.int64(value as number);
  else writer.uint64(value as number);
}

/** @throws RangeError for bytes that are no such message */
export const decode = (message: Message, bytes: Uint8Array): Fields => read(protobuf.Reader.create(bytes), message, bytes.length);

function read(reader: protobuf.Reader, message: Message, end: number): Fields {
  const result: Fields = {};
  for (const field of message.fields) {
    if (field.map) result[field.name] = {};
    else if (field.repeated) result[field.name] = [];
    else if (!field.message) result[field.name] = zeroOf(field.scalar!);
  }
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = message.byNumber.get(tag >>> 3);
    if (!field || !fits(field, tag & 7)) reader.skipType(tag & 7);
    else readField(reader, field, tag & 7, result);
  }
  return result;
}

/** Another type under a number that we know: skipped like a number that we do not. */
const fits = (field: Field, wire: number): boolean => wire === (field.scalar ? wireOf[field.scalar] : 2) || (field.repeated && wire === 2);

function readField(reader: protobuf.Reader, field: Field, wire: number, into: Fields): void {
  if (field.map) {
    const [key, value] = readEntry(reader);
    (into[field.name] as Record<string, string>)[key] = value;
  } else if (field.repeated) {
    const list = into[field.name] as Value[];
    if (field.scalar && wireOf[field.scalar] === 0 && wire === 2) {
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) list.push(readScalar(reader, field.scalar));
    } else list.push(readOne(reader, field));
  } else into[field.name] = readOne(reader, field);
}

function readOne(reader: protobuf.Reader, field: Field): Value {
  if (!field.message) return readScalar(reader, field.scalar!);
  const length = reader.uint32();
  return read(reader, field.message, reader.pos + length);
}

function readEntry(reader: protobuf.Reader): [key: string, value: string] {
  const end = reader.uint32() + reader.pos;
  let key = '';
  let value = '';
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) key = reader.string();
    else if (tag >>> 3 === 2) value = reader.string();
    else reader.skipType(tag & 7);
  }
  return [key, value];
}

function readScalar(reader: protobuf.Reader, scalar: Scalar): Value {
  if (scalar === 'string') return reader.string();
  if (scalar === 'bool') return reader.bool();
  // A copy: the reader's bytes are a view of the whole answer.
  if (scalar === 'bytes') return Uint8Array.from(reader.bytes());
  if (scalar === 'int32') return reader.int32();
  if (scalar === 'uint32') return reader.uint32();
  // Numbers or Longs, as the package finds Long installed or not.
  return Number(scalar === 'int64' ? reader.int64() : reader.uint64());
}

function zeroOf(scalar: Scalar): Value {
  if (scalar === 'string') return '';
  if (scalar === 'bool') return false;
  return scalar === 'bytes' ? noBytes : 0;
}
