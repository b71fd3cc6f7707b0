/** JSON merge patch (RFC 7386) as the library of the reference applies it. */
import {badRequest} from '../errors.ts';
import type {Json, JsonObject} from '../object.ts';
import {setKey} from '../schema/json.ts';
import {jsonKindOf, parsePatchBody} from './patch-body.ts';

export interface ParsedMergePatch {
  patch: Json;
  /** What strict decoding objects to, in its words; empty unless `strict`. */
  strictErrors: string[];
}

/** `strict`: the request asks for warnings or errors about doubled fields. @throws StatusError 400 in the reference's words */
export function parseMergePatch(body: Uint8Array, strict: boolean): ParsedMergePatch {
  if (!strict) {
    const {value} = parseLoosely(body);
    // A list, of all things, may take the place of the object; decoding the result says no to it.
    if (typeof value !== 'object' || value === null) throw badRequest('Invalid JSON Patch');
    return {patch: value, strictErrors: []};
  }
  const prefix = 'error decoding patch: ';
  const {value, duplicates} = parsePatchBody(body, prefix);
  if (value === null) throw badRequest('Invalid JSON Patch');
  if (typeof value !== 'object' || Array.isArray(value))
    throw badRequest(`${prefix}json: cannot unmarshal ${jsonKindOf(value)} into Go value of type map[string]interface {}`);
  return {patch: value, strictErrors: duplicates};
}

/** Null removes a member, an object merges into it, anything else replaces it. Neither argument is changed. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return isObject(target) ? patch : pruned(patch);
  if (!isObject(target)) return pruned(patch);
  const out: JsonObject = {};
  // Sorted, as the reference quotes a result that is refused.
  for (const key of [...new Set([...Object.keys(target), ...Object.keys(patch)])].sort()) {
    const current = Object.hasOwn(target, key) ? target[key]! : null;
    if (!Object.hasOwn(patch, key)) setKey(out, key, current);
    else if (patch[key] !== null) setKey(out, key, mergePatch(current, patch[key]!));
  }
  return out;
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without the members that are null, in lists too: what is new has nothing for them to remove. Items that are null stay. */
function pruned(value: Json): Json {
  if (Array.isArray(value)) return value.map(pruned);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) if (value[key] !== null) setKey(out, key, pruned(value[key]!));
  return out;
}

function parseLoosely(body: Uint8Array): {value: Json} {
  try {
    return parsePatchBody(body, '');
  } catch (error) {
    throw badRequest('Invalid JSON Patch', error);
  }
}
