/** Bodies of patches: JSON that is bounded in depth before anything walks it. What must stand in them is the patch's own affair. */
import {badRequest} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import type {Json} from '../object.ts';
import {JsonError, parseJson} from '../schema/json.ts';

/** Deeper than any object of any type; patches are walked by recursion, several frames a level. */
export const maxPatchDepth = 1_000;

export interface PatchBody {
  value: Json;
  /** Keys that stand twice in their object, in the words of strict decoding. */
  duplicates: string[];
}

/** `prefix` stands before what is wrong with the JSON. @throws StatusError 400 in Go's words */
export function parsePatchBody(body: Uint8Array, prefix: string): PatchBody {
  try {
    const {value, duplicates} = parseJson(body);
    if (depthExceeds(value, maxPatchDepth)) throw new JsonError('exceeded max depth');
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

/** Without recursion, and no further than it must look. */
export function depthExceeds(root: Json, limit: number): boolean {
  let level: Json[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const next: Json[] = [];
    for (const node of level) {
      if (typeof node !== 'object' || node === null) continue;
      if (depth >= limit) return true;
      for (const inner of Array.isArray(node) ? node : Object.values(node))
        if (typeof inner === 'object' && inner !== null) next.push(inner);
    }
    level = next;
  }
  return false;
}
