/** The one place where a revision of the store and a resourceVersion of the wire become each other. */
import {badRequest} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import type {Revision} from '../storage/contract.ts';

export const formatRevision = (revision: Revision): string => String(revision);

/** Undefined for an absent or empty resourceVersion; 0 means "any". @throws StatusError 400 in the words of `what`. */
export function parseRevision(text: string | undefined): Revision | undefined {
  if (text === undefined || text === '') return undefined;
  if (!/^\d+$/.test(text))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`,
    );
  // A number of a million digits takes a while to read.
  const digits = text.replace(/^0+/, '');
  if (digits.length > 20 || BigInt(digits) > 0xffffffffffffffffn) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: value out of range`,
    );
  }
  // Beyond what the store can hand out every number is just as far in the future.
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}
