/**
 * JSON patch (RFC 6902) as the reference's library applies it: lenient where that one is (replacing a member that is not there adds it),
 * strict where it is (an index out of bounds fails).
 */
import {badRequest, genericError, tooLarge} from '../errors.ts';
import {sameJson} from '../kinds/common/equal.ts';
import {maxJsonPatchOperations} from '../limits.ts';
import type {Json, JsonObject} from '../object.ts';
import {JsonError, parseJson, setKey} from '../schema/json.ts';

export interface Operation {
  op?: Json;
  path?: Json;
  from?: Json;
  value?: Json;
}

/** @throws StatusError 400 for what is no list of operations, 413 for too many of them */
export function parseJsonPatch(body: Uint8Array): Operation[] {
  let value: Json;
  try {
    ({value} = parseJson(body));
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(`error decoding patch: ${error.message}`, error);
    throw error;
  }
  if (!Array.isArray(value)) throw badRequest(`error decoding patch: json: cannot unmarshal ${value === null ? 'null' : typeof value} into Go value of type jsonpatch.Patch`);
  if (value.length > maxJsonPatchOperations)
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${value.length}`);
  for (const operation of value)
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation))
      throw badRequest('error decoding patch: json: cannot unmarshal a non-object into Go value of type jsonpatch.Operation');
  return value as Operation[];
}

/** Copies may not make a small patch into a huge object: this much may be copied in all. */
const maxCopiedBytes = 3 * 1024 * 1024;

/** The patched document; the given one is not changed. @throws StatusError 422 */
export function jsonPatch(document: Json, operations: readonly Operation[]): Json {
  const state = {root: structuredClone(document), copied: 0};
  for (const operation of operations) apply(state, operation);
  return state.root;
}

const rejected = () => genericError(422, '', {group: '', resource: ''}, '');

function apply(state: {root: Json; copied: number}, {op, path, from, value}: Operation): void {
  if (typeof path !== 'string') throw rejected();
  const at = parsePointer(path);
  switch (op) {
    case 'add':
      if (value === undefined) throw rejected();
      put(state, at, structuredClone(value), 'add');
      return;
    case 'replace':
      if (value === undefined) throw rejected();
      put(state, at, structuredClone(value), 'replace');
      return;
    case 'remove':
      take(state, at);
      return;
    case 'move': {
      if (typeof from !== 'string') throw rejected();
      put(state, at, take(state, parsePointer(from)), 'add');
      return;
    }
    case 'copy': {
      if (typeof from !== 'string') throw rejected();
      const copy = get(state.root, parsePointer(from));
      if (copy === undefined) throw rejected();
      state.copied += JSON.stringify(copy).length;
      if (state.copied > maxCopiedBytes) throw rejected();
      put(state, at, structuredClone(copy), 'add');
      return;
    }
    case 'test': {
      const found = get(state.root, at);
      if (found === undefined ? value !== undefined && value !== null : !sameJson(found, value ?? null)) throw rejected();
      return;
    }
    default:
      throw rejected();
  }
}

function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw rejected();
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

function get(root: Json, path: readonly string[]): Json | undefined {
  let node: Json | undefined = root;
  for (const part of path) {
    if (Array.isArray(node)) node = node[index(part, node.length - 1)];
    else if (isObject(node) && Object.hasOwn(node, part)) node = node[part];
    else return undefined;
  }
  return node;
}

/** Positions count from the end when negative, as in the reference's library. @throws when out of bounds */
function index(part: string, last: number): number {
  if (!/^-?\d+$/.test(part)) throw rejected();
  const number = Number(part);
  const at = number < 0 ? last + 1 + number : number;
  if (at < 0 || at > last) throw rejected();
  return at;
}

function container(root: Json, path: readonly string[]): Json[] | JsonObject {
  const parent = get(root, path.slice(0, -1));
  if (Array.isArray(parent) || isObject(parent)) return parent;
  throw rejected();
}

function put(state: {root: Json}, path: readonly string[], value: Json, mode: 'add' | 'replace'): void {
  const last = path[path.length - 1];
  if (last === undefined) {
    state.root = value;
    return;
  }
  const parent = container(state.root, path);
  if (!Array.isArray(parent)) setKey(parent, last, value);
  else if (mode === 'replace') parent[index(last, parent.length - 1)] = value;
  else if (last === '-') parent.push(value);
  else parent.splice(index(last, parent.length), 0, value);
}

function take(state: {root: Json}, path: readonly string[]): Json {
  const last = path[path.length - 1];
  if (last === undefined) throw rejected();
  const parent = container(state.root, path);
  if (Array.isArray(parent)) return parent.splice(index(last, parent.length - 1), 1)[0]!;
  if (!Object.hasOwn(parent, last)) throw rejected();
  const value = parent[last]!;
  delete parent[last];
  return value;
}
