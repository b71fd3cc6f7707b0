/** Client request tokens of transactions: one that was done is not done again, for ten minutes after it was completed. */

import type {TransactWriteItemsCommandInput} from '@aws-sdk/client-dynamodb';
import {DynamoError, invalid} from './errors.ts';

const rememberedMs = 10 * 60_000;
const maxTokenLength = 36;

interface Known {
  request: object;
  /** Undefined: under way. */
  completedAt: number | undefined;
}

export interface Begun {
  succeeded(): void;
  ended(): void;
}

export class Tokens {
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws IdempotentParameterMismatch, TransactionInProgressException */
  begin({ClientRequestToken: token, ...request}: TransactWriteItemsCommandInput): Begun | 'done' | undefined {
    if (token === undefined) return undefined;
    if (token.length < 1 || token.length > maxTokenLength)
      throw invalid(
        `Value at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to ${maxTokenLength}`,
      );
    const known = this.#known.get(token);
    if (known && (known.completedAt === undefined || this.#now() - known.completedAt < rememberedMs)) {
      if (textOf(known.request) !== textOf(request))
        throw new DynamoError(
          'IdempotentParameterMismatchException',
          'The request uses the same client token as a previous, but non-identical request',
        );
      if (known.completedAt !== undefined) return 'done';
      throw new DynamoError('TransactionInProgressException', 'The transaction with the given request token is already in progress.');
    }
    const begun: Known = {request, completedAt: undefined};
    this.#known.set(token, begun);
    return {
      succeeded: () => {
        begun.completedAt = this.#now();
      },
      // A transaction that was cancelled may be asked for again.
      ended: () => {
        if (begun.completedAt === undefined) this.#known.delete(token);
      },
    };
  }
}

const textOf = (request: object): string =>
  JSON.stringify(request, (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value));
