/** Errors as the SDK's client throws them: told apart by `name`, with `$metadata`, and what some of them carry besides. */

import type {AttributeValue, CancellationReason} from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;

export class DynamoError extends Error {
  readonly $fault: 'client' | 'server';
  readonly $metadata: {httpStatusCode: number};
  /** Of a failed condition, where it was asked for. */
  declare readonly Item?: Item;
  /** Of a cancelled transaction, in the order of its actions. */
  declare readonly CancellationReasons?: CancellationReason[];

  constructor(name: string, message: string, detail: {status?: number; Item?: Item; CancellationReasons?: CancellationReason[]} = {}) {
    super(message);
    const {status = 400, ...rest} = detail;
    this.name = name;
    this.$fault = status < 500 ? 'client' : 'server';
    this.$metadata = {httpStatusCode: status};
    Object.assign(this, rest);
  }
}

export const invalid = (message: string): DynamoError => new DynamoError('ValidationException', message);

export const conditionFailed = (old: Item | undefined): DynamoError =>
  new DynamoError('ConditionalCheckFailedException', 'The conditional request failed', old ? {Item: old} : {});

export const transactionConflict = (): DynamoError =>
  new DynamoError('TransactionConflictException', 'Transaction is ongoing for the item');

export function cancelled(reasons: CancellationReason[]): DynamoError {
  const codes = reasons.map(({Code}) => Code).join(', ');
  return new DynamoError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    {CancellationReasons: reasons},
  );
}

export const throttled = (): DynamoError =>
  new DynamoError('ThrottlingException', 'Throughput exceeds the current capacity of your table or index.');

export const throughputExceeded = (): DynamoError =>
  new DynamoError('ProvisionedThroughputExceededException', 'The level of configured provisioned throughput for the table was exceeded.');

export const internalError = (): DynamoError => new DynamoError('InternalServerError', 'Internal server error', {status: 500});

export const expiredSignature = (): DynamoError => new DynamoError('InvalidSignatureException', 'Signature expired');

/** What the SDK's request handler says when the answer does not come. */
export const timedOut = (): Error => Object.assign(new Error('Request did not complete in time'), {name: 'TimeoutError'});

/** What a socket says that breaks. */
export const reset = (): Error => Object.assign(new Error('read ECONNRESET'), {code: 'ECONNRESET'});
