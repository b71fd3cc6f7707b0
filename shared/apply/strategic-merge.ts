/**
 * Strategic merge: a patch that knows which lists merge by key and which are replaced, and carries directives of its own ($patch,
 * $retainKeys, $deleteFromPrimitiveList, $setElementOrder). The types say which list is which (patchStrategy, patchMergeKey); the order
 * of merged lists is element-order.ts'.
 */
import {badRequest, genericError, type StatusError} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import type {Json, JsonObject} from '../object.ts';
import {setKey} from '../schema/json.ts';
import type {StructType, Type} from '../schema/types.ts';
import {type Identity, inOrder} from './element-order.ts';
import {goPrint, goTypeOf} from './go-print.ts';
import {jsonKindOf, parsePatchBody} from './patch-body.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFromList = '$deleteFromPrimitiveList';
const elementOrder = '$setElementOrder';

export interface ParsedStrategicPatch {
  patch: JsonObject;
  /** What strict decoding objects to, in its words. */
  strictErrors: string[];
}

/** @throws StatusError 400 in the reference's words */
export function parseStrategicPatch(body: Uint8Array): ParsedStrategicPatch {
  const {value, duplicates} = parsePatchBody(body, '');
  if (value === null) return {patch: {}, strictErrors: []};
  if (!isObject(value)) throw badRequest(`json: cannot unmarshal ${jsonKindOf(value)} into Go value of type map[string]interface {}`);
  return {patch: value, strictErrors: duplicates};
}

/**
 * The patched document; neither argument is changed. @throws StatusError 400 for a patch that cannot be applied: where the reference
 * answers 500 for the client's mistake, its words come with 400
 */
export function strategicMerge(document: JsonObject, patch: JsonObject, type: StructType): JsonObject {
  return mergeObject(document, patch, type);
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const has = (object: JsonObject, key: string): boolean => Object.hasOwn(object, key);

function mergeObject(current: JsonObject, patch: JsonObject, type: Type): JsonObject {
  if (has(patch, directive)) return replaced(patch);
  const out: JsonObject = {...current};
  applyRetainKeys(out, patch);
  const ordered = applyElementOrders(out, patch, type);
  for (const key of Object.keys(patch)) {
    if (key === retainKeys || key.startsWith(elementOrder) || ordered.has(key)) continue;
    const value = patch[key]!;
    if (key.startsWith(deleteFromList)) mergeMember(out, targetOf(key, deleteFromList), value, type, true);
    else mergeMember(out, key, value, type, false);
  }
  return out;
}

/** `$patch` in a map: the patch instead of what was there, or nothing. */
function replaced(patch: JsonObject): JsonObject {
  const {[directive]: mode, ...rest} = patch;
  if (mode === 'replace') return rest;
  if (mode === 'delete') return {};
  throw unknownDirective(mode, patch);
}

function mergeMember(out: JsonObject, key: string, value: Json, type: Type, isDeletion: boolean): void {
  if (value === null) {
    delete out[key];
    return;
  }
  const current = has(out, key) ? out[key]! : undefined;
  if (isObject(value) && isObject(current)) {
    const field = fieldOf(type, key);
    setKey(out, key, field.strategy === 'replace' ? value : mergeObject(current, value, field.type));
  } else if (Array.isArray(value) && Array.isArray(current)) {
    const field = listFieldOf(type, key);
    setKey(out, key, field.strategy === 'merge' || isDeletion ? mergeList(current, value, field, isDeletion) : value);
  } else if (!isDeletion) {
    const added = withoutDirectives(value);
    if (added === undefined) delete out[key];
    else setKey(out, key, added);
  }
}

/** Members that the list does not name are dropped: a union changes its member without leaving the old one behind. */
function applyRetainKeys(out: JsonObject, patch: JsonObject): void {
  if (!has(patch, retainKeys)) return;
  const keep = patch[retainKeys];
  const refused = badRequest('invalid patch format of retainKeys');
  if (!Array.isArray(keep)) throw refused;
  const kept = new Set(keep);
  for (const key of Object.keys(patch)) {
    const isDirective = key === retainKeys || key.startsWith(deleteFromList) || key.startsWith(elementOrder);
    if (!isDirective && patch[key] !== null && !kept.has(key)) throw refused;
  }
  for (const key of Object.keys(out)) if (!kept.has(key)) delete out[key];
}

/** Merges and orders each list that has an order; answers which members of the patch are settled by that. */
function applyElementOrders(out: JsonObject, patch: JsonObject, type: Type): ReadonlySet<string> {
  const settled = new Set<string>();
  for (const directiveKey of Object.keys(patch)) {
    if (!directiveKey.startsWith(elementOrder)) continue;
    const order = listOrRefusal(patch[directiveKey]!);
    const key = targetOf(directiveKey, elementOrder);
    const live = has(out, key) ? listOrRefusal(out[key]!) : undefined;
    const change = has(patch, key) ? listOrRefusal(patch[key]!) : undefined;
    const field = listFieldOf(type, key);
    if (change) validateOrder(change, order, field.mergeKey);
    if (!live && !change) continue;
    const merged =
      live && change
        ? field.strategy === 'merge'
          ? mergeList(live, change, field, false)
          : change
        : (live ?? (withoutDirectives([...change!]) as Json[]));
    const areMaps = itemsAreMaps([live ?? [], change ?? []]);
    if (areMaps === undefined) throw badRequest('no elements in any of the given slices');
    const identity = identityBy(field.mergeKey);
    if (field.mergeKey) for (const item of [...merged, ...order]) keyOf(item, field.mergeKey);
    setKey(out, key, inOrder(merged, order, live ?? [], identity));
    settled.add(key);
  }
  return settled;
}

/** Each item of the patch must stand in the order, in the same sequence; deletions need not. */
function validateOrder(change: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (change.length === 0 || order.length === 0) return;
  const items = mergeKey ? change.filter((item) => !('mode' in listDirective(item))) : change;
  const idOf = (item: Json) => (mergeKey ? plainId(keyOf(item, mergeKey)) : plainId(item));
  let next = 0;
  for (const item of order) if (next < items.length && idOf(items[next]!) === idOf(item)) next++;
  if (next < items.length)
    throw badRequest(
      `The order in patch list:\n${goPrint(change as Json[])}\n doesn't match ${elementOrder} list:\n${goPrint(order as Json[])}\n`,
    );
}

function mergeList(current: readonly Json[], patch: readonly Json[], field: ListField, isDeletion: boolean): Json[] {
  const areMaps = itemsAreMaps([current, patch]);
  if (areMaps === undefined) return [...current];
  if (!areMaps) return isDeletion ? without(current, patch) : inOrder(distinct([...current, ...patch]), patch, current, plainId);
  const {mergeKey} = field;
  if (!mergeKey) throw badRequest(`cannot merge lists without merge key for ${field.items.kind === 'map' ? 'map' : 'struct'}`);
  const {kept, changes} = applyListDirectives(current, patch, mergeKey);
  const identity = identityBy(mergeKey);
  const merged = [...kept];
  const places = new Map<string, number>();
  for (let at = merged.length - 1; at >= 0; at--)
    if (isObject(merged[at]) && has(merged[at] as JsonObject, mergeKey)) places.set(identity(merged[at]!), at);
  for (const item of changes) {
    const id = plainId(keyOf(item, mergeKey));
    const at = places.get(id);
    if (at === undefined) places.set(id, merged.push(item) - 1);
    else merged[at] = mergeObject(merged[at] as JsonObject, item as JsonObject, field.items);
  }
  for (const item of merged) keyOf(item, mergeKey);
  return inOrder(merged, changes, kept, identity);
}

/** `$patch` in items of a list: delete names one item, replace stands for the whole list. */
function applyListDirectives(
  current: readonly Json[],
  patch: readonly Json[],
  mergeKey: string,
): {kept: readonly Json[]; changes: readonly Json[]} {
  const changes: Json[] = [];
  const deleted = new Set<string>();
  let replaces = false;
  for (const item of patch) {
    const found = listDirective(item);
    if (!('mode' in found)) changes.push(item);
    else if (found.mode === 'delete') deleted.add(plainId(keyOf(item, mergeKey)));
    else if (found.mode === 'replace') replaces = true;
    else if (found.mode === 'merge') throw badRequest('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(found.mode, item as JsonObject);
  }
  if (replaces) return {kept: changes, changes: []};
  if (deleted.size === 0) return {kept: current, changes};
  return {kept: current.filter((item) => !isObject(item) || !has(item, mergeKey) || !deleted.has(plainId(item[mergeKey]!))), changes};
}

const listDirective = (item: Json): {mode: Json} | Record<string, never> =>
  isObject(item) && has(item, directive) ? {mode: item[directive]!} : {};

/** For values that meet nothing: no null removes anything, no directive has an object. Undefined when the value is itself a directive. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (has(value, directive)) return undefined;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    const inner = value[key] === null ? undefined : withoutDirectives(value[key]!);
    if (inner !== undefined) setKey(out, key, inner);
  }
  return out;
}

interface PatchField {
  type: Type;
  strategy: string;
  mergeKey: string | undefined;
}

interface ListField extends PatchField {
  items: Type;
}

/** @throws StatusError when the type has no such field, or no fields at all */
function fieldOf(type: Type, key: string): PatchField {
  if (type.kind === 'map' || type.kind === 'list' || type.kind === 'any')
    throw badRequest(`merging an object in json but data type is not struct, instead is: ${goKind(type)}`);
  const field = type.kind === 'struct' ? type.byName.get(key) : undefined;
  const name = type.goName.slice(type.goName.lastIndexOf('.') + 1);
  if (!field) throw badRequest(`unable to find api field in struct ${name} for the json field ${goQuote(key)}`);
  const strategies = (field.patchStrategy ?? '').split(',');
  return {type: field.type, strategy: strategies.find((one) => one !== 'retainKeys') ?? '', mergeKey: field.patchMergeKey};
}

function listFieldOf(type: Type, key: string): ListField {
  const field = fieldOf(type, key);
  if (field.type.kind !== 'list') throw badRequest(`expected slice or array type, but got: ${goKind(type)}`);
  if (field.type.of.kind === 'list') throw badRequest('unexpected slice of slice');
  return {...field, items: field.type.of};
}

const goKind = (type: Type): string => (type.kind === 'list' ? 'slice' : type.kind === 'any' ? 'interface' : type.kind);

/** `$setElementOrder/containers`: the member that a directive is about. */
function targetOf(key: string, prefix: string): string {
  if (key.startsWith(`${prefix}/`)) return key.slice(prefix.length + 1);
  throw badRequest(`invalid patch format of ${prefix === elementOrder ? 'setElementOrder' : 'primitive'} list`);
}

function listOrRefusal(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  throw badRequest(`expected a []interface {}, but received a ${goTypeOf(value)}`);
}

function keyOf(item: Json, mergeKey: string): Json {
  if (!isObject(item)) throw badRequest(`expected a map[string]interface {}, but received a ${goTypeOf(item)}`);
  if (!has(item, mergeKey)) throw badRequest(`map: ${goPrint(item)} does not contain declared merge key: ${mergeKey}`);
  return item[mergeKey]!;
}

/** All items of a list are of one kind, and no lists. Undefined when there are none. */
function itemsAreMaps(lists: readonly (readonly Json[])[]): boolean | undefined {
  let first: string | undefined;
  for (const list of lists)
    for (const item of list) {
      const kind = goTypeOf(item);
      if (first === undefined && Array.isArray(item)) throw listsOfLists();
      first ??= kind;
      if (kind !== first || item === null) throw badRequest(`list element types are not identical: ${goPrint(lists as Json)}`);
    }
  return first === undefined ? undefined : first === 'map[string]interface {}';
}

const listsOfLists = (): StatusError => genericError(422, '', {group: '', resource: ''}, '');

function unknownDirective(mode: Json | undefined, patch: JsonObject): StatusError {
  const printed = typeof mode === 'string' ? mode : mode === null ? '%!s(<nil>)' : `%!s(${goTypeOf(mode)}=${goPrint(mode!)})`;
  return badRequest(`unknown patch type: ${printed} in map: ${goPrint(patch)}`);
}

/** Values of different kinds never meet: 80 is not "80". */
const plainId: Identity = (item) => JSON.stringify(item);
const identityBy = (mergeKey: string | undefined): Identity =>
  mergeKey ? (item) => plainId(isObject(item) && has(item, mergeKey) ? item[mergeKey]! : null) : plainId;

const distinct = (items: readonly Json[]): Json[] => [...new Set(items)];

function without(current: readonly Json[], removed: readonly Json[]): Json[] {
  const gone = new Set(removed);
  return current.filter((item) => !gone.has(item));
}
