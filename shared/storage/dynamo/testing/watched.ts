/** DynamoDB's calls, watched: counted by name, made to fail from a seed. */

import {seededRandom} from '../../faults.ts';
import {callNames, type DynamoCalls} from '../calls.ts';

type Name = keyof DynamoCalls;
type AnyCall = (input: never, signal?: AbortSignal) => Promise<unknown>;

function wrapped(client: DynamoCalls, wrap: (name: Name, call: AnyCall) => AnyCall): DynamoCalls {
  const calls = Object.fromEntries(callNames.map((name) => [name, wrap(name, (client[name] as AnyCall).bind(client))]));
  return calls as unknown as DynamoCalls;
}

export interface Counted {
  client: DynamoCalls;
  /** The calls since the last question, in order. */
  taken(): string[];
}

export function counted(client: DynamoCalls): Counted {
  let calls: string[] = [];
  return {
    client: wrapped(client, (name, call) => (input, signal) => {
      calls.push(name);
      return call(input, signal);
    }),
    taken() {
      const all = calls;
      calls = [];
      return all;
    },
  };
}

/** Calls one of the hooks before or after each call of a name; a hook that throws is the call's failure. */
export function hooked(
  client: DynamoCalls,
  hooks: {[name in Name]?: {before?(input: never): Promise<void> | void; after?(): Promise<void> | void}},
): DynamoCalls {
  return wrapped(client, (name, call) => async (input, signal) => {
    await hooks[name]?.before?.(input);
    const answer = await call(input, signal);
    await hooks[name]?.after?.();
    return answer;
  });
}

export interface CallRates {
  throttled: number;
  conflict: number;
  /** Made, and its answer lost. */
  lost: number;
  /** Lost on the way there. */
  unsent: number;
}

export const someCallFaults: CallRates = {throttled: 0.03, conflict: 0.1, lost: 0.05, unsent: 0.03};

/** What DynamoDB does to its callers and no emulator shows. */
export function troubled(client: DynamoCalls, seed: number, rates: CallRates = someCallFaults): DynamoCalls {
  const random = seededRandom(seed);
  return wrapped(client, (name, call) => async (input, signal) => {
    if (random() < rates.throttled) throw named('ProvisionedThroughputExceededException');
    if (name === 'transactWriteItems' && random() < rates.conflict)
      throw Object.assign(named('TransactionCanceledException'), {CancellationReasons: [{Code: 'TransactionConflict'}, {Code: 'None'}]});
    if (name === 'putItem' && random() < rates.conflict) throw named('TransactionConflictException');
    if (random() < rates.unsent) throw named('TimeoutError');
    const answer = await call(input, signal);
    if (random() < rates.lost) throw named('TimeoutError');
    return answer;
  });
}

export const named = (name: string): Error => Object.assign(new Error(`injected: ${name}`), {name});
