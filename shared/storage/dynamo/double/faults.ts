/**
 * What happens to a call on its way to the database and back, from a seed. faultyCalls() does it to a real client; in virtual time a
 * ./machine.ts does.
 */

import {callNames, type DynamoCalls} from '../calls.ts';
import {cancelled, internalError, reset, throttled, throughputExceeded, timedOut, transactionConflict} from './errors.ts';

export type Verb = keyof DynamoCalls;

/** How often, out of one. */
export interface CallFaults {
  /** The request gets lost. */
  lostRequest: number;
  /** It is done, and nobody hears of it. */
  lostAnswer: number;
  /** 500: done or not. */
  serverError: number;
  throttle: number;
  /** Somebody else's transaction is under way. */
  conflict: number;
  /** Late: the request arrives when nobody waits for it any more. */
  late: number;
}

export const noCallFaults: CallFaults = {lostRequest: 0, lostAnswer: 0, serverError: 0, throttle: 0, conflict: 0, late: 0};
export const someCallFaults: CallFaults = {
  lostRequest: 0.02,
  lostAnswer: 0.04,
  serverError: 0.02,
  throttle: 0.03,
  conflict: 0.04,
  late: 0.01,
};

export type Fate =
  | {kind: 'goes' | 'late'}
  /** It does not reach the database, or is not done there. */
  | {kind: 'fails'; error: Error}
  /** It is done, and then fails. */
  | {kind: 'fails after'; error: Error};

export function fateOf(verb: Verb, input: object, random: () => number, rates: CallFaults): Fate {
  let left = random();
  const is = (rate: number): boolean => {
    left -= rate;
    return left < 0;
  };
  const broken = (): Error => (random() < 0.5 ? timedOut() : reset());
  if (is(rates.lostRequest)) return {kind: 'fails', error: broken()};
  if (is(rates.lostAnswer)) return {kind: 'fails after', error: broken()};
  if (is(rates.serverError)) return {kind: random() < 0.5 ? 'fails' : 'fails after', error: internalError()};
  if (is(rates.throttle)) return {kind: 'fails', error: refusal(verb, input, 'throttle', random)};
  if (is(rates.conflict) && !isRead.has(verb)) return {kind: 'fails', error: refusal(verb, input, 'conflict', random)};
  if (is(rates.late)) return {kind: 'late'};
  return {kind: 'goes'};
}

const isRead: ReadonlySet<Verb> = new Set<Verb>(['getItem', 'batchGetItem', 'query', 'batchWriteItem']);

function refusal(verb: Verb, input: object, why: 'throttle' | 'conflict', random: () => number): Error {
  const actions =
    verb === 'transactWriteItems' || verb === 'transactGetItems' ? (input as {TransactItems?: object[]}).TransactItems : undefined;
  if (!actions) return why === 'conflict' ? transactionConflict() : random() < 0.5 ? throttled() : throughputExceeded();
  const which = Math.floor(random() * actions.length);
  const Code = why === 'conflict' ? 'TransactionConflict' : 'ThrottlingError';
  return cancelled(actions.map((_, n) => (n === which ? {Code, Message: why} : {Code: 'None'})));
}

type Call = (input: object, signal?: AbortSignal) => Promise<object>;

/** The same calls, each made by `call`. */
export function eachCall(call: (verb: Verb, input: object, signal: AbortSignal | undefined) => Promise<object>): DynamoCalls {
  const calls: Partial<Record<Verb, Call>> = {};
  for (const verb of callNames) calls[verb] = (input, signal) => call(verb, input, signal);
  return calls as unknown as DynamoCalls;
}

export const callOf = (calls: DynamoCalls, verb: Verb): Call => calls[verb].bind(calls) as Call;

/** Around a client of a real database, which takes its own time. */
export function faultyCalls(calls: DynamoCalls, random: () => number, rates: CallFaults = someCallFaults): DynamoCalls {
  return eachCall(async (verb, input, signal) => {
    const fate = fateOf(verb, input, random, rates);
    if (fate.kind === 'fails') throw fate.error;
    const answer = callOf(calls, verb)(input, signal);
    if (fate.kind === 'goes') return answer;
    if (fate.kind === 'fails after') {
      await answer.catch(() => undefined);
      throw fate.error;
    }
    answer.catch(() => undefined);
    throw timedOut();
  });
}
