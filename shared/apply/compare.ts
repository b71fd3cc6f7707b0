/** What changed between two objects of a type, as sets of field paths: the granularity is the type's (atomic, by key, by value). */
import {sameJson} from '../kinds/common/equal.ts';
import type {Json, JsonObject} from '../object.ts';
import type {Field, StructType, Type} from '../schema/types.ts';
import {FieldSet} from './field-set.ts';

export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

type Value = Json | undefined;

/** How the items of a list are told apart. */
export type ListShape = {shape: 'atomic'} | {shape: 'set'} | {shape: 'map'; keys: readonly string[]};

export function listShape(field: Pick<Field, 'listType' | 'listMapKeys' | 'patchStrategy' | 'patchMergeKey'> | undefined): ListShape {
  if (field?.listType === 'map') return {shape: 'map', keys: field.listMapKeys ?? []};
  if (field?.listType === 'set') return {shape: 'set'};
  if (field?.listType === 'atomic') return {shape: 'atomic'};
  if (field?.patchStrategy?.includes('merge') && field.patchMergeKey) return {shape: 'map', keys: [field.patchMergeKey]};
  if (field?.patchStrategy?.includes('merge')) return {shape: 'set'};
  return {shape: 'atomic'};
}

export function compare(before: JsonObject, after: JsonObject, type: StructType | undefined): Comparison {
  const comparison = {added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet()};
  members(before, after, type, comparison, false);
  return comparison;
}

/** One place. Containers are entered; a leaf that differs goes into one of the sets; a place that came or went is a member itself. */
function place(before: Value, after: Value, type: Type | undefined, field: Field | undefined, at: () => Comparison): void {
  if (before === undefined && after === undefined) return;
  if (before === after) return;
  const structAtomic = type?.kind === 'struct' && (type.atomic || field?.structType === 'atomic');
  const mapAtomic = type?.kind === 'map' && (field?.mapType === 'atomic' || field?.structType === 'atomic');
  const entered = enter(before, after, type, field);
  if (structAtomic || mapAtomic || entered === 'leaf') {
    if (!sameJson(before, after)) mark(before, after, at());
    return;
  }
  if (sameJson(before, after)) return;
  const here = at();
  if (before === undefined) here.added.member = true;
  else if (after === undefined) here.removed.member = true;
  if (entered === 'members') members(asObject(before), asObject(after), type, here, type?.kind === 'map');
  else items(asArray(before), asArray(after), type, entered, here);
}

function enter(before: Value, after: Value, type: Type | undefined, field: Field | undefined): 'leaf' | 'members' | ListShape {
  const sample = after ?? before;
  if (Array.isArray(sample)) {
    const shape = listShape(field);
    if (shape.shape === 'atomic' || (isEmptyList(before) === isEmptyList(after) && isEmptyList(before))) return 'leaf';
    return shape;
  }
  if (typeof sample === 'object' && sample !== null) {
    if (isEmptyObject(before) && isEmptyObject(after)) return 'leaf';
    // Values without a type (raw documents) are structs all the way down; special types are leaves.
    if (type && !['struct', 'map', 'any', 'raw'].includes(type.kind)) return 'leaf';
    return 'members';
  }
  return 'leaf';
}

const isEmptyList = (value: Value): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0);
const isEmptyObject = (value: Value): boolean =>
  value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0);
const asObject = (value: Value): JsonObject => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {});
const asArray = (value: Value): Json[] => (Array.isArray(value) ? value : []);

function mark(before: Value, after: Value, here: Comparison): void {
  if (before === undefined) here.added.member = true;
  else if (after === undefined) here.removed.member = true;
  else here.modified.member = true;
}

function members(before: JsonObject, after: JsonObject, type: Type | undefined, here: Comparison, _isMap: boolean): void {
  const fields = type?.kind === 'struct' ? type.byName : undefined;
  const child = (key: string) => () => descend(here, `f:${key}`);
  for (const key of Object.keys(after)) {
    const field = fields?.get(key);
    place(own(before, key), after[key], field?.type ?? (type?.kind === 'map' ? type.of : undefined), field, child(key));
  }
  for (const key of Object.keys(before)) {
    if (Object.hasOwn(after, key)) continue;
    const field = fields?.get(key);
    place(before[key], undefined, field?.type ?? (type?.kind === 'map' ? type.of : undefined), field, child(key));
  }
}

const own = (object: JsonObject, key: string): Value => (Object.hasOwn(object, key) ? object[key] : undefined);

function items(before: readonly Json[], after: readonly Json[], type: Type | undefined, shape: ListShape, here: Comparison): void {
  const of = type?.kind === 'list' ? type.of : undefined;
  const old = byElement(before, shape);
  const now = byElement(after, shape);
  for (const [element, item] of now) place(old.get(element), item, of, undefined, () => descend(here, element));
  for (const [element, item] of old) if (!now.has(element)) place(item, undefined, of, undefined, () => descend(here, element));
}

function byElement(list: readonly Json[], shape: ListShape): Map<string, Json> {
  const out = new Map<string, Json>();
  for (const [at, item] of list.entries()) out.set(elementOf(item, at, shape), item);
  return out;
}

/** The path element of a list item. Keys are sorted by name; absent ones are left out, as defaults have been filled in before. */
export function elementOf(item: Json, at: number, shape: ListShape): string {
  if (shape.shape === 'set') return `v:${JSON.stringify(item)}`;
  if (shape.shape === 'map' && typeof item === 'object' && item !== null && !Array.isArray(item)) {
    const key: JsonObject = {};
    for (const name of [...shape.keys].sort()) if (item[name] !== undefined) key[name] = item[name];
    return `k:${JSON.stringify(key)}`;
  }
  return `i:${at}`;
}

const descend = (here: Comparison, element: string): Comparison => ({
  added: here.added.at(element),
  modified: here.modified.at(element),
  removed: here.removed.at(element),
});
