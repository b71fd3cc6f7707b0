/**
 * Objects as `application/vnd.kubernetes.protobuf` (and its synonym of ours): magic bytes, then an envelope that names the kind, then the
 * message. Both directions, lists and watch frames. Which media type was asked for is settled in http/negotiate.ts.
 */
import type {Writer} from 'protobufjs/minimal.js';
import {badRequest, type StatusError} from '../../errors.ts';
import {goQuote} from '../../field-errors.ts';
import {type GroupVersionKind, groupVersion, type JsonObject, type KubeObject, parseGroupVersion} from '../../object.ts';
import {DecodeError, normalize} from '../decode.ts';
import {type StructType, typeByKind} from '../types.ts';
import {magic, messageOf} from './model.ts';
import {readMessage} from './read.ts';
import {inGoWords, Source} from './source.ts';
import {writeStruct, written} from './write.ts';

/** `object` names its kind, or `gvk` does. @throws Error for kinds that have no message: custom resources, Table */
export function encodeProtobuf(object: KubeObject, gvk: GroupVersionKind = kindOf(object)): Uint8Array {
  const type = requireMessage(gvk);
  return enveloped(gvk, (writer) => writeStruct(writer, type, object as unknown as JsonObject));
}

/** The message alone, without magic and envelope. */
export function encodeRaw(object: KubeObject, gvk: GroupVersionKind = kindOf(object)): Uint8Array {
  const type = requireMessage(gvk);
  return written(
    (writer) => writeStruct(writer, type, object as unknown as JsonObject),
    (writer) => writer.finish(),
  );
}

/** A list whose items are read one after the other, so that their parsed forms need not stand in memory together. `gvk` is the list's. */
export function encodeList(gvk: GroupVersionKind, listMeta: object, items: Iterable<object>): Uint8Array {
  const type = requireMessage(gvk);
  const field = type.byName.get('items')?.type;
  if (field?.kind !== 'list' || field.of.kind !== 'struct') throw new Error(`${type.goName} is no list`);
  const item: StructType = field.of;
  return enveloped(gvk, (writer) => {
    writeStruct(writer, type, {metadata: listMeta as JsonObject});
    for (const object of items) {
      writer.uint32(listItemsTag).fork();
      writeStruct(writer, item, object as JsonObject);
      writer.ldelim();
    }
  });
}

/** Every list has its metadata as field 1 and its items as field 2. */
const listItemsTag = (2 << 3) | 2;

/** One event of a watch: its length in four bytes, then type and enveloped object. */
export function encodeWatchFrame(type: string, envelope: Uint8Array): Uint8Array {
  return written(
    (writer) => {
      writer.uint32(10).string(type);
      writer.uint32(18).fork().uint32(10).bytes(envelope).ldelim();
    },
    (writer) => {
      const frame = Buffer.allocUnsafe(4 + lengthOf(writer));
      frame.writeUInt32BE(frame.length - 4);
      return writer.finishInto(frame, 4);
    },
  );
}

function enveloped(gvk: GroupVersionKind, write: (writer: Writer) => void): Uint8Array {
  return written(
    (writer) => {
      writer.uint32(10).fork();
      writer.uint32(10).string(groupVersion(gvk)).uint32(18).string(gvk.kind);
      writer.ldelim();
      writer.uint32(18).fork();
      write(writer);
      writer.ldelim();
      writer.uint32(26).string('').uint32(34).string('');
    },
    (writer) => {
      const body = Buffer.allocUnsafe(magic.length + lengthOf(writer));
      body.set(magic);
      return writer.finishInto(body, magic.length);
    },
  );
}

const lengthOf = (writer: Writer): number => (writer as unknown as {pos: number}).pos;

function kindOf(object: KubeObject): GroupVersionKind {
  const parsed = parseGroupVersion(object.apiVersion);
  if (!parsed) throw new Error(`no group version: ${object.apiVersion}`);
  return {...parsed, kind: object.kind};
}

function requireMessage(gvk: GroupVersionKind): StructType {
  const type = messageOf(gvk);
  if (!type) throw new Error(`${gvk.kind} of ${groupVersion(gvk)} has no protobuf form`);
  return type;
}

export interface DecodedProtobuf {
  /** In the normal form that JSON bodies are brought into too. */
  object: KubeObject;
  gvk: GroupVersionKind;
}

/** `defaults` is the kind that the path expects; it fills in what the envelope leaves out. @throws StatusError 400 */
export function decodeProtobuf(body: Uint8Array, {defaults}: {defaults: GroupVersionKind}): DecodedProtobuf {
  const refuse = defaults.kind === 'DeleteOptions' ? badRequest : (why: string) => unrecognized(body, defaults, why);
  const envelope = open(body, refuse);
  const gvk = {...kindNamed(envelope.apiVersion, defaults), kind: envelope.kind || defaults.kind};
  const handledAs =
    defaults.kind === 'DeleteOptions'
      ? badRequest
      : (why: string) => badRequest(`${gvk.kind} in version ${goQuote(defaults.version)} cannot be handled as a ${defaults.kind}: ${why}`);
  const type = typeByKind(gvk);
  if (!type || (gvk.kind !== defaults.kind && defaults.kind === 'DeleteOptions'))
    throw handledAs(
      `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(groupVersion(gvk))} in scheme "pkg/runtime/scheme.go:111"`,
    );
  try {
    const message = readMessage(envelope.raw, type);
    if (gvk.kind !== defaults.kind)
      throw handledAs(`converting (${type.goName}) to (${goPackage(defaults.group)}.${defaults.kind}): unknown conversion`);
    return {object: normalize(message, gvk), gvk};
  } catch (error) {
    if (error instanceof DecodeError) throw handledAs(error.message);
    throw error;
  }
}

interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
}

function open(body: Uint8Array, refuse: (why: string) => StatusError): Envelope {
  if (body.length === 0) throw refuse('empty data');
  if (body.length < magic.length || magic.some((byte, at) => body[at] !== byte))
    throw refuse(`provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`);
  if (body.length === magic.length) throw refuse('empty body');
  try {
    return inGoWords(() => readEnvelope(body.subarray(magic.length)));
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}

/** contentEncoding and contentType are not looked at, as in the reference. */
function readEnvelope(bytes: Uint8Array): Envelope {
  const source = new Source(bytes);
  const {reader} = source;
  const envelope: Envelope = {apiVersion: '', kind: '', raw: new Uint8Array(0)};
  while (!source.atEnd) {
    const tag = reader.tag();
    if (tag === 10) {
      const outer = source.enter();
      while (!source.atEnd) {
        const inner = reader.tag();
        if (inner === 10) envelope.apiVersion = reader.string();
        else if (inner === 18) envelope.kind = reader.string();
        else reader.skipType(inner & 7, 0, inner >>> 3);
      }
      source.leave(outer);
    } else if (tag === 18) envelope.raw = reader.bytes();
    else reader.skipType(tag & 7, 0, tag >>> 3);
  }
  return envelope;
}

/** The reference falls back on what it expects where the version does not parse. */
function kindNamed(apiVersion: string, defaults: GroupVersionKind): {group: string; version: string} {
  const parsed = apiVersion === '' ? undefined : parseGroupVersion(apiVersion);
  return parsed ?? {group: defaults.group, version: defaults.version};
}

const goPackage = (group: string): string => (group === '' ? 'core' : group.split('.')[0]!);

const unrecognized = (body: Uint8Array, defaults: GroupVersionKind, why: string): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${defaults.kind}): ${why} (${excerpt(body)})`);

/** The first bytes in hex: 30 of them. */
function excerpt(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const isJson = body[0] === 0x7b;
  const head = Buffer.from(body.subarray(0, 30)).toString(isJson ? 'utf8' : 'hex');
  return body.length > 30 ? `${head} ...` : head;
}
