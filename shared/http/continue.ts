/** Continue tokens: upstream's form (base64url of JSON with v, rv, start) plus the time at which the list began, to expire them by. */
import {badRequest, failure, type StatusError} from '../errors.ts';
import type {Revision} from '../storage/contract.ts';

export interface ContinueToken {
  /** The snapshot that the list reads; -1 for "whatever is newest", which only an expired token's replacement says. */
  revision: Revision;
  /** Key after which the next chunk starts, without the request's prefix. */
  start: string;
  /** ms since the epoch; absent in tokens of an inconsistent continuation. */
  time?: number;
}

const tokenVersion = 'meta.k8s.io/v1';

export function encodeContinue(token: ContinueToken): string {
  const json = JSON.stringify({
    v: tokenVersion,
    rv: token.revision,
    start: `${token.start}\u0000`,
    ...(token.time !== undefined && {t: token.time}),
  });
  return Buffer.from(json).toString('base64url');
}

/** @throws StatusError 400 in the reference's words */
export function decodeContinue(text: string): ContinueToken {
  const invalid = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
  if (typeof parsed !== 'object' || parsed === null) throw invalid('json: cannot unmarshal into a continue token');
  const {v, rv, start, t} = parsed as Record<string, unknown>;
  if (v !== tokenVersion) throw invalid(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`.trimEnd());
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw invalid(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  if (typeof start !== 'string' || start === '') throw invalid(`encoded start key empty (version ${tokenVersion})`);
  // The key is taken below the request's own prefix, so it cannot reach beyond it; a path that tries is not one of ours.
  if (start.startsWith('/') || start.split('/').some((part) => part === '.' || part === '..')) throw invalid(start);
  return {revision: rv, start: start.replace(/\u0000$/, ''), ...(typeof t === 'number' && {time: t})};
}

const tooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** 410 that offers to go on from the same key over the newest state. */
export const expiredContinue = (start: string): StatusError =>
  failure(410, 'Expired', tooOld, {metadata: {continue: encodeContinue({revision: -1, start})}});

/** 410 for an exact version that is no longer kept. */
export const expiredList = (): StatusError => failure(410, 'Expired', 'The resourceVersion for the provided list is too old.');
