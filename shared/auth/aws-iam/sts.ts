/** Asks STS who signed. What may be asked has been settled in ./token.ts. */
import type {Clock} from '../../clock.ts';
import {clusterHeader, type SignedQuestion} from './token.ts';

export interface CallerIdentity {
  arn: string;
  account: string;
  /** `AROA...:session`, `AIDA...` */
  userId: string;
}

/** The part of fetch that is used. */
export type Fetch = (url: string, init: {headers: Record<string, string>; redirect: 'manual'; signal: AbortSignal}) => Promise<FetchAnswer>;

export interface FetchAnswer {
  status: number;
  text(): Promise<string>;
}

export class StsError extends Error {
  /** Whether the same token may do later. */
  readonly passing: boolean;

  constructor(message: string, {passing}: {passing: boolean}) {
    super(message);
    this.name = 'StsError';
    this.passing = passing;
  }
}

const timeoutMs = 10_000;
const maxAnswerChars = 64 * 1024;

/** @throws StsError */
export async function callerIdentity({url}: SignedQuestion, cluster: string, fetch: Fetch, clock: Clock): Promise<CallerIdentity> {
  const abort = new AbortController();
  const cancel = clock.after(timeoutMs, () => abort.abort());
  try {
    // The name is ours, never the token's: STS then refuses what was signed for another cluster.
    const headers = {[clusterHeader]: cluster, accept: 'application/json'};
    const answer = await fetch(url, {headers, redirect: 'manual', signal: abort.signal});
    const text = await answer.text();
    if (answer.status !== 200) throw refusal(answer.status, text);
    if (text.length > maxAnswerChars) throw new StsError('STS answered at too great length', {passing: true});
    return read(text);
  } catch (error) {
    if (error instanceof StsError) throw error;
    throw new StsError(abort.signal.aborted ? 'STS did not answer in time' : 'STS could not be reached', {passing: true});
  } finally {
    cancel();
  }
}

function refusal(status: number, text: string): StsError {
  if (/Throttling|RequestLimitExceeded/.test(text)) return new StsError('STS is throttling requests', {passing: true});
  return new StsError(`error from AWS (expected 200, got ${status})`, {passing: status >= 500 || status === 429});
}

function read(text: string): CallerIdentity {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new StsError('STS did not answer in JSON', {passing: true});
  }
  const result = at(at(answer, 'GetCallerIdentityResponse'), 'GetCallerIdentityResult');
  const [arn, account, userId] = [at(result, 'Arn'), at(result, 'Account'), at(result, 'UserId')];
  if (typeof arn !== 'string' || typeof account !== 'string' || typeof userId !== 'string')
    throw new StsError('STS answered without an identity', {passing: true});
  return {arn, account, userId};
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
