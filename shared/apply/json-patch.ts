/**
 * JSON patch (RFC 6902) as the library of the reference applies it: lenient where that one is (replacing a member that is not there
 * adds it, a copy of nothing is null, positions may count from the end), strict where it is.
 */
import {badRequest, genericError, tooLarge} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import {maxBodyBytes, maxJsonDepth, maxJsonPatchOperations} from '../limits.ts';
import type {Json, JsonObject} from '../object.ts';
import {setKey} from '../schema/json.ts';
import {equalJson} from './equal.ts';
import {jsonKindOf, parsePatchBody} from './patch-body.ts';

export interface Operation {
  op?: Json;
  path?: Json;
  from?: Json;
  value?: Json;
}

export interface ParsedJsonPatch {
  operations: readonly Operation[];
  /** What strict decoding objects to, in its words; empty unless `strict`. */
  strictErrors: string[];
}

/**
 * `strict`: the request asks for warnings or errors about fields that an operation does not have. The reference then decodes twice, and
 * words what is wrong otherwise. @throws StatusError 400 for what is no list of operations, 413 for too many of them
 */
export function parseJsonPatchBody(body: Uint8Array, strict: boolean): ParsedJsonPatch {
  const prefix = strict ? 'error decoding patch: ' : '';
  const {value, duplicates} = parsePatchBody(body, prefix);
  const refuse = (found: Json, where: string) => badRequest(`${prefix}json: cannot unmarshal ${jsonKindOf(found)} into Go ${where}`);
  if (value !== null && !Array.isArray(value))
    throw refuse(value, `value of type ${strict ? '[]handlers.jsonPatchOp' : 'jsonpatch.Patch'}`);
  const operations = value ?? [];
  const strictErrors: string[] = [];
  for (const [at, operation] of operations.entries()) {
    if (operation === null) continue;
    if (typeof operation !== 'object' || Array.isArray(operation))
      throw refuse(operation, `value of type ${strict ? 'handlers.jsonPatchOp' : 'jsonpatch.Operation'}`);
    if (!strict) continue;
    for (const name of texts) {
      const text = Object.hasOwn(operation, name) ? operation[name] : undefined;
      if (text !== undefined && text !== null && typeof text !== 'string')
        throw refuse(text, `struct field jsonPatchOp.${name} of type string`);
    }
    const place = `"[${at}].`;
    strictErrors.push(...duplicates.filter((text) => text.includes(place)));
    for (const name of Object.keys(operation)) if (!members.has(name)) strictErrors.push(`unknown field ${goQuote(`[${at}].${name}`)}`);
  }
  if (operations.length > maxJsonPatchOperations)
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${operations.length}`);
  return {operations: operations as Operation[], strictErrors: strictErrors.map((text) => `json patch ${text}`)};
}

/** The patched document; the given one is not changed. @throws StatusError 422 */
export function jsonPatch(document: Json, operations: readonly Operation[]): Json {
  const patching: Patching = {root: document, own: new Set(), copiedBytes: 0, movedItems: 0};
  for (const operation of operations) apply(patching, operation ?? {});
  return settled(patching.root, patching.own);
}

const texts = ['op', 'path', 'from'] as const;
const members = new Set(['op', 'path', 'from', 'value']);

/** Copies may not make a small patch into a huge object: this much may be copied in all. */
const maxCopiedBytes = maxBodyBytes;
/** An insertion moves what stands behind it: as many moves as take about a tenth of a second. */
const maxMovedItems = 50_000_000;

interface Patching {
  root: Json;
  /** Containers that this patch has made, and may change; all others belong to the document or the patch. */
  own: Set<Json>;
  copiedBytes: number;
  movedItems: number;
}

type Container = Json[] | JsonObject;

const refused = () => genericError(422, '', {group: '', resource: ''}, '');

function apply(patching: Patching, {op, path, from, value = null}: Operation): void {
  if (typeof path !== 'string') throw refused();
  switch (op) {
    case 'add':
      add(patching, path, value);
      return;
    case 'replace':
      replace(patching, path, value);
      return;
    case 'remove':
      remove(patching, path);
      return;
    case 'move': {
      if (typeof from !== 'string') throw refused();
      const moved = get(patching, from);
      remove(patching, from);
      add(patching, path, moved);
      return;
    }
    case 'copy':
      if (typeof from !== 'string') throw refused();
      add(patching, path, copyOf(patching, get(patching, from)));
      return;
    case 'test':
      if (!equalJson(path === '' ? patching.root : get(patching, path), value)) throw refused();
      return;
    default:
      throw refused();
  }
}

function add(patching: Patching, path: string, value: Json): void {
  const {container, key} = find(patching, path);
  if (!Array.isArray(container)) setKey(container, key, value);
  else if (key === '-') container.push(value);
  else {
    const at = position(key, container.length + 1);
    if (at > container.length) throw refused();
    countMoves(patching, container.length - at);
    container.splice(at, 0, value);
  }
}

function replace(patching: Patching, path: string, value: Json): void {
  if (path === '') {
    if (typeof value !== 'object' || value === null) throw refused();
    patching.root = value;
    return;
  }
  const {container, key} = find(patching, path);
  if (Array.isArray(container)) container[existing(container, key)] = value;
  else setKey(container, key, value);
}

function remove(patching: Patching, path: string): void {
  const {container, key} = find(patching, path);
  if (Array.isArray(container)) {
    const at = existing(container, key);
    countMoves(patching, container.length - at);
    container.splice(at, 1);
  } else if (Object.hasOwn(container, key)) delete container[key];
  else throw refused();
}

/** A member that is not there is null, a position that is not there is an error. */
function get(patching: Patching, path: string): Json {
  const {container, key} = find(patching, path);
  if (Array.isArray(container)) return container[existing(container, key)]!;
  return Object.hasOwn(container, key) ? container[key]! : null;
}

/** The container that a path ends in, made this patch's own with all on the way to it. What stands before the first slash is nothing. */
function find(patching: Patching, path: string): {container: Container; key: string} {
  const parts = path.split('/');
  if (parts.length < 2 || parts.length > maxJsonDepth) throw refused();
  let container = owned(patching, patching.root);
  patching.root = container;
  for (let at = 1; at < parts.length - 1; at++) {
    const part = unescaped(parts[at]!);
    const key = Array.isArray(container) ? existing(container, part) : part;
    if (typeof key === 'string' && !Object.hasOwn(container, key)) throw refused();
    const inner = owned(patching, (container as JsonObject)[key]!);
    if (Array.isArray(container)) container[key as number] = inner;
    else setKey(container, key as string, inner);
    container = inner;
  }
  return {container, key: unescaped(parts.at(-1)!)};
}

function owned(patching: Patching, node: Json): Container {
  if (typeof node !== 'object' || node === null) throw refused();
  if (patching.own.has(node)) return node;
  const own = Array.isArray(node) ? [...node] : {...node};
  patching.own.add(own);
  return own;
}

const unescaped = (part: string): string => (part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part);

/** `+1` and `01` are positions too, for the reference. */
function position(text: string, length: number): number {
  if (!/^[+-]?\d+$/.test(text)) throw refused();
  const number = Number(text);
  const at = number < 0 ? number + length : number;
  if (at < 0) throw refused();
  return at;
}

function existing(list: readonly Json[], text: string): number {
  const at = position(text, list.length);
  if (at >= list.length) throw refused();
  return at;
}

function countMoves(patching: Patching, items: number): void {
  patching.movedItems += items;
  if (patching.movedItems > maxMovedItems) throw refused();
}

/** A copy of its own, measured as it is made. */
function copyOf(patching: Patching, value: Json, depth = 0): Json {
  patching.copiedBytes += typeof value === 'string' ? value.length + 2 : 4;
  if (depth > maxJsonDepth || patching.copiedBytes > maxCopiedBytes) throw refused();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copyOf(patching, item, depth + 1));
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    patching.copiedBytes += key.length + 3;
    setKey(copy, key, copyOf(patching, value[key]!, depth + 1));
  }
  return copy;
}

/** Members of objects that the patch went through are sorted: the reference quotes a refused result so. */
function settled(node: Json, own: ReadonlySet<Json>): Json {
  if (!own.has(node)) return node;
  if (Array.isArray(node)) return node.map((item) => settled(item, own));
  const out: JsonObject = {};
  for (const key of Object.keys(node as JsonObject).sort()) setKey(out, key, settled((node as JsonObject)[key]!, own));
  return out;
}
