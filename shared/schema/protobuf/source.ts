/**
 * The bytes of a message and how far one may read in them. Strangers write these bytes: every length is held against the message around
 * it, depth and number of messages are bounded, and what does not fit is said in the reference's words. What fields mean is in read.ts.
 */
import protobuf, {type Reader} from 'protobufjs/minimal.js';
import {maxProtobufDepth, maxProtobufMessages} from '../../limits.ts';
import type {Json, JsonObject} from '../../object.ts';
import {DecodeError} from '../decode.ts';
import {wireBytes} from './model.ts';

/** A reader that stays inside of the message that it is in. */
export class Source {
  readonly reader: Reader;
  #depth = 0;
  #messages = 0;

  constructor(bytes: Uint8Array) {
    this.reader = protobuf.Reader.create(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  get atEnd(): boolean {
    return this.reader.pos >= this.reader.len;
  }

  /** Reads a length and narrows the view to it; `leave` takes the end of the outer message, which this returns. */
  enter(): number {
    const {reader} = this;
    const outer = reader.len;
    const end = reader.size() + reader.pos;
    if (end > outer) throw new DecodeError('unexpected EOF');
    if (++this.#depth > maxProtobufDepth) throw new DecodeError('proto: messages are nested too deeply');
    reader.len = end;
    return outer;
  }

  leave(outer: number): void {
    this.reader.len = outer;
    this.#depth--;
  }

  count(): void {
    if (++this.#messages > maxProtobufMessages) throw new DecodeError('proto: too many messages');
  }
}

export interface FieldReader {
  goName: string;
  wireType: number;
  read(source: Source, parent: JsonObject): void;
  /** For numbers in one piece, as other writers may send repeated ones. */
  readPacked?(source: Source, parent: JsonObject): void;
}

export type ValueReader = (source: Source, before: Json | undefined) => Json;
export type Fields = ReadonlyMap<number, FieldReader>;

/** A message given more than once is merged; fields that nobody knows are passed over. */
export function readFields(source: Source, message: string, fields: Fields, into: JsonObject): void {
  const {reader} = source;
  while (!source.atEnd) {
    const tag = reader.tag();
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (wireType === 4) throw new DecodeError(`proto: ${message}: wiretype end group for non-group`);
    if (number === 0) throw new DecodeError(`proto: ${message}: illegal tag 0 (wire type ${wireType})`);
    const field = fields.get(number);
    if (field === undefined) reader.skipType(wireType, 0, number);
    else if (wireType === field.wireType) field.read(source, into);
    else if (wireType === wireBytes && field.readPacked) field.readPacked(source, into);
    else throw new DecodeError(`proto: wrong wireType = ${wireType} for field ${field.goName}`);
  }
}

export function inGoWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof DecodeError) throw error;
    if (error instanceof RangeError) throw new DecodeError('unexpected EOF');
    const illegal = /^invalid wire type (\d)/.exec(error.message);
    const words = illegal ? `proto: illegal wireType ${illegal[1]}` : goWords[error.message];
    if (words === undefined) throw error;
    throw new DecodeError(words);
  }
}

/** protobufjs's errors. */
const goWords: Record<string, string> = {
  'invalid length encoding': 'proto: negative length found during unmarshaling',
  'invalid tag encoding': 'proto: integer overflow',
  'invalid varint encoding': 'proto: integer overflow',
  'invalid end group tag': 'proto: unexpected end of group',
  'illegal tag: field number 0': 'proto: illegal tag 0',
  'max depth exceeded': 'proto: messages are nested too deeply',
};
