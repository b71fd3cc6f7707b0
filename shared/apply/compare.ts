/**
 * What a write changed, as sets of field paths. How far down a change is told is the type's to say: lists are one field (atomic), or
 * told apart by value (set) or by keys (map); structs and maps are entered unless they are atomic.
 */
import type {Json, JsonObject} from '../object.ts';
import type {Field, ListType, Type} from '../schema/types.ts';
import {equalJson} from './equal.ts';
import {FieldSet} from './field-set.ts';
import {indexElement, keyElement, memberElement, valueElement} from './path-element.ts';

export interface Comparison {
  /** Places that came, or whose value is another. */
  taken: FieldSet;
  removed: FieldSet;
}

type Value = Json | undefined;
type Topology = Pick<Field, 'listType' | 'listMapKeys' | 'patchStrategy' | 'patchMergeKey' | 'mapType' | 'structType'>;
type ListShape = {shape: 'atomic'} | {shape: 'set'} | {shape: 'map'; keys: readonly string[]};

/** Without a type, lists are atomic and objects are entered. */
export function compare(before: JsonObject, after: JsonObject, type: Type | undefined): Comparison {
  return members(before, after, type);
}

/** Every place of an object, as a set: what its creator owns. */
export const everything = (value: JsonObject, type: Type | undefined): FieldSet =>
  new FieldSet(false, all(value, type, undefined).children);

const same: Comparison = {taken: FieldSet.empty, removed: FieldSet.empty};
const changed: Comparison = {taken: FieldSet.leaf, removed: FieldSet.empty};

function place(before: Value, after: Value, type: Type | undefined, topology: Topology | undefined): Comparison {
  if (before === after) return same;
  if (before === undefined) return {taken: all(after!, type, topology), removed: FieldSet.empty};
  if (after === undefined) return {taken: FieldSet.empty, removed: all(before, type, topology)};
  const shape = shapeOf(before, after, type, topology);
  if (shape === 'leaf') return equalJson(before, after) ? same : changed;
  return shape === 'members'
    ? members(asObject(before), asObject(after), type)
    : items(asList(before), asList(after), type as ListType, shape);
}

function members(before: JsonObject, after: JsonObject, type: Type | undefined): Comparison {
  const comparing = new Comparing();
  for (const name of Object.keys(after)) {
    const field = fieldOf(type, name);
    comparing.add(memberElement(name), place(own(before, name), after[name], field?.type ?? itemType(type), field));
  }
  for (const name of Object.keys(before)) {
    if (Object.hasOwn(after, name)) continue;
    const field = fieldOf(type, name);
    comparing.add(memberElement(name), place(before[name], undefined, field?.type ?? itemType(type), field));
  }
  return comparing.result();
}

function items(before: readonly Json[], after: readonly Json[], type: ListType, shape: ListShape): Comparison {
  const comparing = new Comparing();
  const [old, now] = [byElement(before, type, shape), byElement(after, type, shape)];
  for (const [element, found] of now) comparing.add(element, item(old.get(element), found, type.of));
  for (const [element, found] of old) if (!now.has(element)) comparing.add(element, item(found, undefined, type.of));
  return comparing.result();
}

/** Items that stand twice in their list are one place, told as a whole. */
function item(before: Json[] | undefined, after: Json[] | undefined, type: Type): Comparison {
  const [doubledBefore, doubledAfter] = [before !== undefined && before.length > 1, after !== undefined && after.length > 1];
  if (!doubledBefore && !doubledAfter) return place(before?.[0], after?.[0], type, undefined);
  if (doubledBefore && doubledAfter) return equalJson(before, after) ? same : changed;
  const single = doubledBefore ? after : before;
  const whole = single ? all(single[0]!, type, undefined) : FieldSet.empty;
  return doubledBefore ? {taken: whole, removed: FieldSet.leaf} : {taken: FieldSet.leaf, removed: whole};
}

/** Every place in a value that came or went as a whole. */
function all(value: Json, type: Type | undefined, topology: Topology | undefined): FieldSet {
  const shape = shapeOf(value, value, type, topology);
  if (shape === 'leaf') return FieldSet.leaf;
  const children = new Map<string, FieldSet>();
  if (shape === 'members') {
    const object = value as JsonObject;
    for (const name of Object.keys(object)) {
      const field = fieldOf(type, name);
      children.set(memberElement(name), all(object[name]!, field?.type ?? itemType(type), field));
    }
  } else {
    const {of} = type as ListType;
    for (const [element, found] of byElement(value as Json[], type as ListType, shape))
      children.set(element, found.length > 1 ? FieldSet.leaf : all(found[0]!, of, undefined));
  }
  return new FieldSet(true, children);
}

/** Gathers what its members say; most say nothing, so the maps are made late. */
class Comparing {
  #taken: Map<string, FieldSet> | undefined;
  #removed: Map<string, FieldSet> | undefined;

  add(element: string, {taken, removed}: Comparison): void {
    if (!taken.isEmpty) this.#taken = (this.#taken ?? new Map()).set(element, taken);
    if (!removed.isEmpty) this.#removed = (this.#removed ?? new Map()).set(element, removed);
  }

  result(): Comparison {
    if (!this.#taken && !this.#removed) return same;
    return {taken: setOf(this.#taken), removed: setOf(this.#removed)};
  }
}

const setOf = (children: Map<string, FieldSet> | undefined): FieldSet => (children ? new FieldSet(false, children) : FieldSet.empty);

function shapeOf(before: Json, after: Json, type: Type | undefined, topology: Topology | undefined): 'leaf' | 'members' | ListShape {
  const sample = after ?? before;
  // Two that are empty are a leaf: so null, nothing in it, and empty stay apart.
  if (typeof sample !== 'object' || sample === null || (isBare(before) && isBare(after))) return 'leaf';
  if (Array.isArray(sample)) {
    const shape = type?.kind === 'list' ? listShape(topology) : undefined;
    return !shape || shape.shape === 'atomic' ? 'leaf' : shape;
  }
  if (type === undefined) return 'members';
  if (type.kind === 'struct') return type.atomic || topology?.structType === 'atomic' ? 'leaf' : 'members';
  if (type.kind === 'map') return topology?.mapType === 'atomic' ? 'leaf' : 'members';
  return 'leaf';
}

const isBare = (value: Json): boolean =>
  value === null || (Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Object.keys(value).length === 0);

/** Lists that strategic merge merges are told apart by the same keys, where nothing else is said. */
function listShape(topology: Topology | undefined): ListShape {
  if (!topology) return {shape: 'atomic'};
  const {listType, listMapKeys, patchStrategy, patchMergeKey} = topology;
  if (listType === 'map') return {shape: 'map', keys: listMapKeys ?? []};
  if (listType === 'set') return {shape: 'set'};
  if (listType === 'atomic' || !patchStrategy?.split(',').includes('merge')) return {shape: 'atomic'};
  return patchMergeKey ? {shape: 'map', keys: [patchMergeKey]} : {shape: 'set'};
}

function byElement(list: readonly Json[], type: ListType, shape: ListShape): Map<string, Json[]> {
  const out = new Map<string, Json[]>();
  for (const [at, found] of list.entries()) {
    const element = elementOf(found, at, type.of, shape);
    const doubles = out.get(element);
    if (doubles) doubles.push(found);
    else out.set(element, [found]);
  }
  return out;
}

/** A key that an item leaves out counts with its default, or not at all. */
function elementOf(found: Json, at: number, type: Type, shape: ListShape): string {
  if (shape.shape === 'set') return valueElement(found);
  if (shape.shape !== 'map' || typeof found !== 'object' || found === null || Array.isArray(found)) return indexElement(at);
  const keys: JsonObject = {};
  for (const name of shape.keys) {
    const value = own(found, name) ?? (fieldOf(type, name)?.default as Value);
    if (value !== undefined) keys[name] = value;
  }
  return keyElement(keys);
}

const fieldOf = (type: Type | undefined, name: string): Field | undefined => (type?.kind === 'struct' ? type.byName.get(name) : undefined);
const itemType = (type: Type | undefined): Type | undefined => (type?.kind === 'map' ? type.of : undefined);
const own = (object: JsonObject, name: string): Value => (Object.hasOwn(object, name) ? object[name] : undefined);
const asObject = (value: Json): JsonObject => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {});
const asList = (value: Json): readonly Json[] => (Array.isArray(value) ? value : []);
