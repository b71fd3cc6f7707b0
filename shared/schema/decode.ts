/**
 * From bytes to an object: parsed, recognized by its apiVersion and kind, and normalized (normalize.ts). What cannot be is refused in Go's
 * words (diagnose.ts) with the Status of the reference.
 */
import {badRequest, type StatusError} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import {type GroupVersionKind, groupVersion, type Json, type JsonObject, type KubeObject, parseGroupVersion} from '../object.ts';
import {diagnose} from './diagnose.ts';
import {documentOf, type JsonNode, valueOfNode} from './document.ts';
import {JsonError, parseJson} from './json.ts';
import {misfit, normalizeAs} from './normalize.ts';
import {type StructType, typeByKind} from './types.ts';
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
  /** `unknown field "spec.x"`, `duplicate field "data.k"`, in the order of the document. */
  strictErrors: string[];
}

/** @throws StatusError 400 */
export function decode(body: Uint8Array, options: DecodeOptions): Decoded {
  const {defaults, strict} = options;
  const parsed = parse(body, options);
  const gvk = sniff(body, parsed.value, defaults);
  const refuse = (why: string): StatusError =>
    badRequest(`${gvk.kind} in version ${goQuote(gvk.version)} cannot be handled as a ${defaults.kind}: ${why}`);
  const type = typeByKind(gvk);
  const notRegistered = `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(groupVersion(gvk))} in scheme "pkg/runtime/scheme.go:111"`;
  if (!type) throw refuse(notRegistered);
  try {
    const {object, strictErrors} = read(parsed, type, strict);
    if (gvk.kind !== defaults.kind)
      throw refuse(
        isOptions(defaults.kind)
          ? notRegistered
          : `converting (${type.goName}) to (${goPackage(defaults.group)}.${defaults.kind}): unknown conversion`,
      );
    if (!takesAnyVersion(defaults.kind) && groupVersion(gvk) !== groupVersion(defaults))
      throw badRequest(
        `the API version in the data (${groupVersion(gvk)}) does not match the expected API version (${groupVersion(defaults)})`,
      );
    const yamlErrors = strict ? parsed.yamlErrors : [];
    return {object: withKind(object, gvk, type), gvk, strictErrors: [...yamlErrors, ...strictErrors]};
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}

/** Options are of no version in particular: each group has them. */
const isOptions = (kind: string): boolean => kind === 'DeleteOptions';
/** And evictions are still taken as policy/v1beta1, which is served no more. */
const takesAnyVersion = (kind: string): boolean => isOptions(kind) || kind === 'Eviction';

const goPackage = (group: string): string => (group === '' ? 'core' : group.split('.')[0]!);

interface Parsed {
  value: Json;
  hasDuplicates: boolean;
  oddNumbers: boolean;
  document: () => JsonNode;
  /** What is wrong with the text though not with the document: keys that YAML has twice. */
  yamlErrors: readonly string[];
}

function parse(body: Uint8Array, {mediaType, defaults}: DecodeOptions): Parsed {
  const isYaml = mediaType === 'application/yaml';
  try {
    if (isYaml) {
      const {value, duplicates} = parseYaml(body);
      return {value, hasDuplicates: false, oddNumbers: false, document: () => documentOf(value, true), yamlErrors: duplicates};
    }
    const {value, duplicates, oddNumbers, document} = parseJson(body);
    return {value, hasDuplicates: duplicates.length > 0, oddNumbers, document, yamlErrors: []};
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw unrecognized(body, defaults, isYaml ? error.message : `couldn't get version/kind; json parse error: ${error.message}`);
  }
}

const unrecognized = (body: Uint8Array, defaults: GroupVersionKind, why: string): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${defaults.kind}): ${why} (${excerpt(body)})`);

const excerptBytes = 30;

/** How the reference quotes a body: text where it looks like JSON, else hex. */
function excerpt(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const head = Buffer.from(body.subarray(0, excerptBytes)).toString(body[0] === 0x7b ? 'utf8' : 'hex');
  return body.length > excerptBytes ? `${head} ...` : head;
}

const typeMetaStruct = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** apiVersion and kind of the body, or what the path implies. Go looks for these two without regard to case. */
function sniff(body: Uint8Array, value: Json, defaults: GroupVersionKind): GroupVersionKind {
  const refuse = (why: string) =>
    unrecognized(body, defaults, `couldn't get version/kind; json parse error: json: cannot unmarshal ${why}`);
  if (value === null) return defaults;
  if (typeof value !== 'object' || Array.isArray(value)) throw refuse(`${jsonKind(value)} into Go value of type ${typeMetaStruct}`);
  let kind = '';
  let apiVersion = '';
  let fault: string | undefined;
  for (const key in value) {
    const field = typeMetaField(key);
    if (!field) continue;
    const given = value[key]!;
    if (given === null) continue;
    if (typeof given !== 'string') fault ??= `${jsonKind(given)} into Go struct field .${field} of type string`;
    else if (field === 'kind') kind = given;
    else apiVersion = given;
  }
  if (fault !== undefined) throw refuse(fault);
  const parsed = parseGroupVersion(apiVersion === '/' ? '' : apiVersion);
  if (!parsed) throw unrecognized(body, defaults, `unexpected GroupVersion string: ${apiVersion}`);
  const {group, version} = parsed;
  const isOpen = version === '' && (group === '' || group === defaults.group);
  return {group: isOpen ? defaults.group : group, version: isOpen ? defaults.version : version, kind: kind || defaults.kind};
}

function typeMetaField(key: string): 'kind' | 'apiVersion' | undefined {
  if (key.length === 4) return key === 'kind' || key.toLowerCase() === 'kind' ? 'kind' : undefined;
  if (key.length === 10) return key === 'apiVersion' || key.toLowerCase() === 'apiversion' ? 'apiVersion' : undefined;
  return undefined;
}

const jsonKind = (value: Json): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value);

export interface NormalizeOptions {
  /** Receives `unknown field "..."` for members that the type does not have; they are dropped either way. */
  strictErrors?: string[];
}

/** A parsed document as an object of this kind. @throws DecodeError */
export function normalize(value: Json, gvk: GroupVersionKind, options: NormalizeOptions = {}): KubeObject {
  const type = typeByKind(gvk);
  if (!type) throw new DecodeError(`no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(groupVersion(gvk))}`);
  const document = () => documentOf(value);
  const {object, strictErrors} = read({value, hasDuplicates: false, oddNumbers: false, document}, type, options.strictErrors !== undefined);
  options.strictErrors?.push(...strictErrors);
  return withKind(object, gvk, type);
}

/** The quick way first; the document is only walked when there is something to say about it. */
function read(
  {value, hasDuplicates, oddNumbers, document}: Pick<Parsed, 'value' | 'hasDuplicates' | 'oddNumbers' | 'document'>,
  type: StructType,
  strict: boolean,
): {object: JsonObject; strictErrors: string[]} {
  const tell = (root: JsonNode): string[] => {
    const {fault, strictErrors} = diagnose(root, type);
    if (fault !== undefined) throw new DecodeError(fault);
    return strict ? strictErrors : [];
  };
  if (oddNumbers) {
    const root = document();
    const strictErrors = tell(root);
    return {object: take(valueOfNode(root), type, () => root).object, strictErrors};
  }
  const {object, unknown} = take(value ?? {}, type, document);
  return {object, strictErrors: strict && (unknown || hasDuplicates) ? tell(document()) : []};
}

function take(value: Json, type: StructType, document: () => JsonNode): {object: JsonObject; unknown: boolean} {
  try {
    return normalizeAs(value, type);
  } catch (error) {
    if (error !== misfit) throw error;
    throw new DecodeError(diagnose(document(), type).fault ?? `json: cannot unmarshal into Go value of type ${type.goName}`);
  }
}

/** Kind, apiVersion and metadata first. */
function withKind(object: JsonObject, gvk: GroupVersionKind, type: StructType): KubeObject {
  const {kind: _kind, apiVersion: _version, ...rest} = object;
  const head = {kind: gvk.kind, apiVersion: groupVersion(gvk)};
  return (type.byName.has('metadata') ? {...head, metadata: rest['metadata'], ...rest} : {...head, ...rest}) as unknown as KubeObject;
}
