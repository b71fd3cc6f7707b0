/** Bodies of patches: JSON that is bounded in depth before anything walks it. What must stand in them is the patch's own affair. */
import {badRequest} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import type {Json} from '../object.ts';
import {JsonError, parseJson} from '../schema/json.ts';

export interface PatchBody {
  value: Json;
  /** Keys that stand twice in their object, in the words of strict decoding. */
  duplicates: string[];
}

/** `prefix` stands before what is wrong with the JSON. @throws StatusError 400 in Go's words */
export function parsePatchBody(body: Uint8Array, prefix: string): PatchBody {
  try {
    const {value, duplicates} = parseJson(body);
    return {value, duplicates: duplicates.map((path) => `duplicate field ${goQuote(path)}`)};
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(`${prefix}${error.message}`, error);
    throw error;
  }
}

/** JSON kinds as Go's decoder names them in errors. */
export function jsonKindOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
