/**
 * From bytes to an object as Go would print it after decoding: fields in the type's order, nulls and empty optional values gone, zero
 * values of the others filled in, quantities and times in their normal spelling. What does not fit the type is refused in Go's words.
 */
import {badRequest} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import {type GroupVersionKind, groupVersion, type Json, type JsonObject, type KubeObject, parseGroupVersion} from '../object.ts';
import {JsonError, parseJson, setKey} from './json.ts';
import {normalizeSpecial, zeroOfSpecial} from './special.ts';
import {type Field, type StructType, type Type, typeByKind} from './types.ts';
import {parseYaml} from './yaml.ts';

/** A value that its type does not take; the message is what the reference says behind `cannot be handled as a ...: `. */
export class DecodeError extends Error {}

export interface DecodeOptions {
  mediaType: 'application/json' | 'application/yaml';
  /** The kind that the path expects; fills in what the body leaves out. */
  defaults: GroupVersionKind;
  /** Collect unknown and duplicate fields. */
  strict: boolean;
}

export interface Decoded {
  object: KubeObject;
  gvk: GroupVersionKind;
  /** `unknown field "spec.x"`, `duplicate field "data.k"`, in the order of the reference. */
  strictErrors: string[];
}

/** @throws StatusError 400 */
export function decode(body: Uint8Array, options: DecodeOptions): Decoded {
  const {defaults} = options;
  const {value, duplicates} = parse(body, options);
  const sniffed = sniff(body, value, defaults);
  const gvk = {...sniffed};
  const strictErrors: string[] = options.strict ? duplicates.slice() : [];
  const type = typeByKind(gvk);
  const handledAs = (why: string) =>
    badRequest(`${gvk.kind} in version ${goQuote(gvk.version)} cannot be handled as a ${defaults.kind}: ${why}`);
  if (!type) {
    const about = `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(groupVersion(gvk))} in scheme "pkg/runtime/scheme.go:111"`;
    throw badRequest(`${gvk.kind} in version ${goQuote(gvk.version)} cannot be handled as a ${defaults.kind}: ${about}`);
  }
  if (gvk.kind !== defaults.kind) {
    if (defaults.kind === 'DeleteOptions')
      throw handledAs(
        `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(groupVersion(gvk))} in scheme "pkg/runtime/scheme.go:111"`,
      );
    throw handledAs(`converting (${type.goName}) to (${goPackage(defaults.group)}.${defaults.kind}): unknown conversion`);
  }
  try {
    const object = normalizeAs(value as JsonObject, gvk, type, options.strict ? strictErrors : undefined);
    return {object, gvk, strictErrors: strictErrors.slice(0, maxStrictErrors)};
  } catch (error) {
    if (error instanceof DecodeError) throw handledAs(error.message);
    throw error;
  }
}

/** The reference stops counting here; nobody reads further. */
const maxStrictErrors = 1_000;

const goPackage = (group: string): string => (group === '' ? 'core' : group.split('.')[0]!);

function parse(body: Uint8Array, {mediaType, defaults}: DecodeOptions): {value: Json; duplicates: readonly string[]} {
  try {
    if (mediaType === 'application/yaml') return parseYaml(body);
    const parsed = parseJson(body);
    return {value: parsed.value, duplicates: parsed.duplicates.map((path) => `duplicate field ${goQuote(path)}`)};
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw unrecognized(
      body,
      defaults,
      mediaType === 'application/yaml' ? error.message : `couldn't get version/kind; json parse error: ${error.message}`,
    );
  }
}

const unrecognized = (body: Uint8Array, defaults: GroupVersionKind, why: string) =>
  badRequest(`the object provided is unrecognized (must be of type ${defaults.kind}): ${why} (${excerpt(body)})`);

const excerptLength = 30;

/** How the reference quotes a body: text where it looks like JSON, else hex. */
function excerpt(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const text = Buffer.from(body.subarray(0, 1024)).toString('utf8');
  if (!text.startsWith('{')) return Buffer.from(body.subarray(0, 1024)).toString('hex');
  return body.length > excerptLength ? `${text.slice(0, excerptLength)} ...` : text;
}

const typeMetaStruct = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** apiVersion and kind of the body, or what the path implies. */
function sniff(body: Uint8Array, value: Json, defaults: GroupVersionKind): GroupVersionKind {
  const refuse = (why: string) => unrecognized(body, defaults, `couldn't get version/kind; json parse error: json: ${why}`);
  if (value === null) return defaults;
  if (typeof value !== 'object' || Array.isArray(value))
    throw refuse(`cannot unmarshal ${jsonKind(value)} into Go value of type ${typeMetaStruct}`);
  for (const field of ['apiVersion', 'kind'] as const) {
    const given = value[field];
    if (given !== undefined && given !== null && typeof given !== 'string')
      throw refuse(`cannot unmarshal ${jsonKind(given)} into Go struct field .${field} of type string`);
  }
  const apiVersion = (value['apiVersion'] as string | null | undefined) || groupVersion(defaults);
  const parsed = parseGroupVersion(apiVersion);
  if (!parsed) throw unrecognized(body, defaults, `unexpected GroupVersion string: ${apiVersion}`);
  return {...parsed, kind: (value['kind'] as string | null | undefined) || defaults.kind};
}

export interface NormalizeOptions {
  /** Receives `unknown field "..."` for members that the type does not have; they are dropped either way. */
  strictErrors?: string[];
}

/** A parsed document as an object of this kind. @throws DecodeError */
export function normalize(value: Json, gvk: GroupVersionKind, options: NormalizeOptions = {}): KubeObject {
  const type = typeByKind(gvk);
  if (!type) throw new DecodeError(`no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(groupVersion(gvk))}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${type.goName}`);
  return normalizeAs(value, gvk, type, options.strictErrors);
}

function normalizeAs(value: JsonObject | null, gvk: GroupVersionKind, type: StructType, strictErrors: string[] | undefined): KubeObject {
  const walk: Walk = {path: [], struct: '', strictErrors};
  const object = structValue(value ?? {}, type, walk) as unknown as KubeObject;
  const {kind: _kind, apiVersion: _version, ...rest} = object;
  if (!type.byName.has('metadata')) return {kind: gvk.kind, apiVersion: groupVersion(gvk), ...rest} as unknown as KubeObject;
  return {kind: gvk.kind, apiVersion: groupVersion(gvk), ...(rest as {metadata: KubeObject['metadata']})};
}

interface Walk {
  /** Field names, and `[0]` for list positions: where we are. */
  path: string[];
  /** The struct whose field is being read, as errors name it. */
  struct: string;
  strictErrors: string[] | undefined;
}

/** Undefined stands for "not there": the caller decides by the field's rules. */
function structValue(input: JsonObject, type: StructType, walk: Walk): JsonObject {
  const out: JsonObject = {};
  const outer = walk.struct;
  let known = 0;
  for (const field of type.fields) {
    const given = input[field.name];
    if (given !== undefined) known++;
    if (given === undefined || given === null) {
      if (!field.pointer && !(field.omitempty && isEmptyable(field.type)) && !field.omitzero) out[field.name] = zeroOf(field.type);
      else if (field.pointer && !field.omitempty) out[field.name] = null;
      continue;
    }
    walk.struct = type.name;
    walk.path.push(field.goPath);
    const value = valueOf(given, field.type, walk);
    walk.path.pop();
    if (field.omitempty && !field.pointer && isEmptyable(field.type) && isEmpty(value)) continue;
    if (field.omitzero && (value === null || value === undefined)) continue;
    if (value === null && field.pointer && field.omitempty) continue;
    out[field.name] = value as Json;
  }
  walk.struct = outer;
  if (walk.strictErrors && known !== Object.keys(input).length) reportUnknown(input, type, walk);
  return out;
}

function reportUnknown(input: JsonObject, type: StructType, walk: Walk): void {
  for (const key of Object.keys(input)) {
    if (type.byName.has(key)) continue;
    walk.strictErrors!.push(`unknown field ${goQuote(joinPath([...walk.path, key]))}`);
  }
}

/** Unknown-field paths carry list positions, and leave embedded structs out. */
function joinPath(path: readonly string[]): string {
  let out = '';
  for (const part of path) {
    const name = part.startsWith('[') ? part : part.slice(part.lastIndexOf('.') + 1);
    out += name.startsWith('[') || out === '' ? name : `.${name}`;
  }
  return out;
}

/** Go's omitempty drops these when they are empty; it has no effect on structs. */
const isEmptyable = (type: Type): boolean =>
  type.kind !== 'struct' &&
  type.kind !== 'time' &&
  type.kind !== 'microTime' &&
  type.kind !== 'quantity' &&
  type.kind !== 'intOrString' &&
  type.kind !== 'duration' &&
  type.kind !== 'raw';

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
      return structValue({}, type, {path: [], struct: '', strictErrors: undefined});
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

function valueOf(given: Json, type: Type, walk: Walk): Json {
  switch (type.kind) {
    case 'string':
      if (typeof given === 'string') return given;
      throw mismatch(given, type, walk);
    case 'bool':
      if (typeof given === 'boolean') return given;
      throw mismatch(given, type, walk);
    case 'int32':
      if (typeof given === 'number') {
        if (Number.isInteger(given) && given >= -2147483648 && given <= 2147483647) return given;
        throw mismatch(given, type, walk, true);
      }
      throw mismatch(given, type, walk);
    case 'int64':
      if (typeof given === 'number') {
        // Beyond 2^53 neighbours become one: what no real field needs is taken as close as a double can say it.
        if (Number.isInteger(given) && given >= -9223372036854775808 && given < 9223372036854775807) return given;
        throw mismatch(given, type, walk, true);
      }
      throw mismatch(given, type, walk);
    case 'double':
      if (typeof given === 'number') return given;
      throw mismatch(given, type, walk);
    case 'bytes':
      if (typeof given === 'string') return canonicalBase64(given);
      throw mismatch(given, type, walk);
    case 'struct': {
      if (typeof given === 'object' && given !== null && !Array.isArray(given)) return structValue(given, type, walk);
      throw mismatch(given, type, walk);
    }
    case 'list': {
      if (!Array.isArray(given)) throw mismatch(given, type, walk);
      return given.map((item, at) => {
        if (item === null) return zeroOf(type.of);
        walk.path.push(`[${at}]`);
        const value = valueOf(item, type.of, walk);
        walk.path.pop();
        return value;
      });
    }
    case 'map': {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) throw mismatch(given, type, walk);
      const out: JsonObject = {};
      for (const key of Object.keys(given)) {
        const item = given[key]!;
        if (item === null) setKey(out, key, zeroOf(type.of));
        else {
          walk.path.push(`[${key}]`);
          setKey(out, key, valueOf(item, type.of, walk));
          walk.path.pop();
        }
      }
      return out;
    }
    default:
      return normalizeSpecial(given, type, {
        refuse: (goType, withNumber) => mismatch(given, {goName: goType}, walk, withNumber),
        fail: (message) => new DecodeError(message),
        struct: (value, struct) => valueOf(value, struct, walk),
      });
  }
}

function mismatch(given: Json, type: {goName: string}, walk: Walk, withNumber = false): DecodeError {
  const what = withNumber ? `number ${given}` : jsonKind(given);
  const path = walk.path.filter((part) => !part.startsWith('[')).join('.');
  const into = path ? `Go struct field ${walk.struct}.${path}` : 'Go value';
  return new DecodeError(`json: cannot unmarshal ${what} into ${into} of type ${type.goName}`);
}

const jsonKind = (value: Json): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

const base64Shape = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @throws DecodeError naming the first byte that is no base64 */
function canonicalBase64(text: string): string {
  const clean = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, '') : text;
  if (base64Shape.test(clean)) return clean;
  const bad = clean.search(/[^A-Za-z0-9+/=]/);
  const padding = clean.indexOf('=');
  const at =
    bad >= 0 && (padding < 0 || bad < padding)
      ? bad
      : padding >= 0 && padding % 4 < 2
        ? padding
        : padding >= 0
          ? padding + 2
          : clean.length - (clean.length % 4);
  throw new DecodeError(`illegal base64 data at input byte ${at}`);
}

export type {Field};
