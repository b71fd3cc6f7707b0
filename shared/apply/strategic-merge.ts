/**
 * Strategic merge: a patch that knows which lists merge by key and which are replaced, and carries directives of its own. The types
 * say which list is which (patchStrategy, patchMergeKey).
 */
import {badRequest} from '../errors.ts';
import {sameJson} from '../kinds/common/equal.ts';
import type {Json, JsonObject} from '../object.ts';
import {setKey} from '../schema/json.ts';
import type {Field, StructType, Type} from '../schema/types.ts';
import {goPrint} from './go-print.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFromPrefix = '$deleteFromPrimitiveList/';
const orderPrefix = '$setElementOrder/';

/** The patched document; neither argument is changed. @throws StatusError 400 for a patch that cannot be applied */
export function strategicMerge(document: JsonObject, patch: JsonObject, type: StructType): JsonObject {
  return mergeObject(document, patch, type);
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (object: JsonObject, key: string): Json | undefined => (Object.hasOwn(object, key) ? object[key] : undefined);

function fieldOf(type: Type | undefined, key: string): Field | undefined {
  return type?.kind === 'struct' ? type.byName.get(key) : undefined;
}

const typeOfMember = (type: Type | undefined, key: string): Type | undefined => (type?.kind === 'map' ? type.of : fieldOf(type, key)?.type);

function mergeObject(current: JsonObject, patch: JsonObject, type: Type | undefined): JsonObject {
  const mode = own(patch, directive);
  if (mode === 'replace') return withoutDirectives(patch);
  if (mode === 'delete') return {};
  // What is neither is taken for a delete of everything, as the reference does; `merge` is the default said aloud.
  if (mode !== undefined && mode !== 'merge') return unknownDirective();
  const out: JsonObject = {...current};
  applyRetainKeys(out, patch);
  for (const key of Object.keys(patch)) {
    if (key === directive || key === retainKeys) continue;
    if (key.startsWith(deleteFromPrefix)) {
      deleteFromList(out, key.slice(deleteFromPrefix.length), patch[key]!, patch);
      continue;
    }
    if (key.startsWith(orderPrefix)) continue;
    mergeMember(out, key, patch, type);
  }
  for (const key of Object.keys(patch)) {
    if (key.startsWith(orderPrefix)) applyOrder(out, current, key.slice(orderPrefix.length), patch, type);
  }
  return out;
}

const unknownDirective = (): JsonObject => ({});

function mergeMember(out: JsonObject, key: string, patch: JsonObject, type: Type | undefined): void {
  const value = patch[key]!;
  if (value === null) {
    delete out[key];
    return;
  }
  const was = own(out, key);
  const memberType = typeOfMember(type, key);
  if (isObject(value)) {
    const strategy = fieldOf(type, key)?.patchStrategy;
    if (strategy === 'replace') setKey(out, key, withoutDirectives(value));
    else if (own(value, directive) === 'delete') delete out[key];
    else setKey(out, key, mergeObject(isObject(was) ? was : {}, value, memberType));
    return;
  }
  if (Array.isArray(value)) {
    const field = fieldOf(type, key);
    const itemType = memberType?.kind === 'list' ? memberType.of : undefined;
    if (field?.patchStrategy?.split(',').includes('merge')) setKey(out, key, mergeList(Array.isArray(was) ? was : [], value, field, itemType));
    else setKey(out, key, value.filter((item) => !isObject(item) || own(item, directive) === undefined));
    return;
  }
  setKey(out, key, value);
}

/** Members not named are dropped: a union changes its member without leaving the old one behind. */
function applyRetainKeys(out: JsonObject, patch: JsonObject): void {
  const keep = own(patch, retainKeys);
  if (keep === undefined) return;
  if (!Array.isArray(keep)) throw badRequest('invalid patch format of retainKeys');
  for (const key of Object.keys(out)) if (!keep.includes(key)) delete out[key];
  for (const key of Object.keys(patch))
    if (!key.startsWith('$') && patch[key] !== null && !keep.includes(key)) throw badRequest('retainKeys list doesn\'t contain a field present in the patch');
}

function deleteFromList(out: JsonObject, key: string, values: Json, patch: JsonObject): void {
  if (!Array.isArray(values)) throw badRequest(`invalid value for ${deleteFromPrefix}${key} directive`);
  const was = own(out, key);
  if (!Array.isArray(was)) return;
  const left = was.filter((item) => !values.some((value) => sameJson(value, item)));
  setKey(out, key, left);
  if (left.length === 0 && own(patch, key) === undefined) delete out[key];
}

function mergeList(current: readonly Json[], patch: readonly Json[], field: Field, itemType: Type | undefined): Json[] {
  const mergeKey = field.patchMergeKey;
  if (!mergeKey || !patch.concat(current).some(isObject)) {
    const out = [...current];
    for (const item of patch) if (!out.some((present) => sameJson(present, item))) out.push(item);
    return out;
  }
  const replaces = patch.some((item) => isObject(item) && own(item, directive) === 'replace');
  if (replaces) return patch.filter((item) => !(isObject(item) && own(item, directive) !== undefined));
  let out = [...current];
  for (const item of patch) {
    if (!isObject(item)) throw badRequest('expecting map');
    const key = own(item, mergeKey);
    if (key === undefined) {
      if (own(item, directive) !== undefined) continue;
      throw badRequest(`map: ${goPrint(item)} does not contain declared merge key: ${mergeKey}`);
    }
    const matches = (present: Json) => isObject(present) && sameJson(own(present, mergeKey), key);
    if (own(item, directive) === 'delete') {
      out = out.filter((present) => !matches(present));
      continue;
    }
    const at = out.findIndex(matches);
    if (at < 0) out.push(mergeObject({}, item, itemType));
    else out[at] = mergeObject(out[at] as JsonObject, item, itemType);
  }
  return out;
}

/** Items that the order names stand in that order; the others keep their places between them as well as they can. */
function applyOrder(out: JsonObject, current: JsonObject, key: string, patch: JsonObject, type: Type | undefined): void {
  const order = patch[`${orderPrefix}${key}`];
  const merged = own(out, key);
  if (!Array.isArray(order)) throw badRequest(`invalid value for ${orderPrefix}${key} directive`);
  if (!Array.isArray(merged)) return;
  const mergeKey = fieldOf(type, key)?.patchMergeKey;
  const idOf = (item: Json): string => JSON.stringify(mergeKey && isObject(item) ? (own(item, mergeKey) ?? null) : item);
  const wanted = order.map(idOf);
  const patched = own(patch, key);
  if (Array.isArray(patched))
    for (const item of patched)
      if (isObject(item) && mergeKey && own(item, mergeKey) !== undefined && own(item, directive) === undefined && !wanted.includes(idOf(item)))
        throw badRequest(`The order in patch list:\n${goPrint(patched)}\n doesn't match ${orderPrefix}${key} list:\n${goPrint(order)}\n`);
  const named = merged.filter((item) => wanted.includes(idOf(item))).sort((a, b) => wanted.indexOf(idOf(a)) - wanted.indexOf(idOf(b)));
  const live = (own(current, key) as Json[] | undefined)?.map(idOf) ?? [];
  setKey(out, key, interleave(named, merged.filter((item) => !wanted.includes(idOf(item))), live, idOf));
}

/** Server-only items go before the first named item that stood behind them. */
function interleave(named: readonly Json[], others: readonly Json[], live: readonly string[], idOf: (item: Json) => string): Json[] {
  const out: Json[] = [];
  let next = 0;
  for (const item of named) {
    const place = live.indexOf(idOf(item));
    while (next < others.length && place >= 0 && live.indexOf(idOf(others[next]!)) < place) out.push(others[next++]!);
    out.push(item);
  }
  return [...out, ...others.slice(next)];
}

function withoutDirectives(value: JsonObject): JsonObject {
  const {[directive]: _directive, ...rest} = value;
  return rest;
}
