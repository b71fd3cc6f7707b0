/** JSON merge patch (RFC 7386), and the parsing of patch bodies that are objects. */
import {badRequest} from '../errors.ts';
import type {Json, JsonObject} from '../object.ts';
import {JsonError, parseJson, setKey} from '../schema/json.ts';

/** @throws StatusError 400 in the reference's words */
export function parsePatchObject(body: Uint8Array): JsonObject {
  let value: Json;
  try {
    ({value} = parseJson(body));
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(`error decoding patch: ${error.message}`, error);
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw badRequest(`error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`);
  }
  return value;
}

/** Null removes a member, an object merges into it, anything else replaces it. Neither argument is changed. */
export function mergePatch(target: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const out: JsonObject = {...base};
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (value === null) delete out[key];
    else setKey(out, key, mergePatch(Object.hasOwn(out, key) ? out[key]! : null, value));
  }
  return out;
}
