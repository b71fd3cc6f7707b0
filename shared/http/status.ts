/** Any error as an answer: API errors as they are, errors of the store in HTTP's words, everything else as a 500 that says little. */
import {failure, internalError, StatusError, tooLarge, tooLargeResourceVersion, tooManyRequests} from '../errors.ts';
import {isStoreError} from '../storage/contract.ts';

/** The one place where the store's errors become HTTP's, for those that no verb has better words for. */
export function statusOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (isStoreError(error)) {
    switch (error.code) {
      case 'Compacted':
        return failure(410, 'Expired', `too old resource version: ${error.message}`, {cause: error});
      case 'Future':
        return tooLargeResourceVersion('unknown', error.revision ?? 0);
      case 'TooLarge':
        return tooLarge(error.message);
      // Configuration that changed with each beginning.
      case 'ConfigurationMoved':
      case 'Unavailable':
        return tooManyRequests(error.message, 1);
      case 'OutcomeUnknown':
        return failure(504, 'Timeout', `Timeout: request did not complete within the allotted timeout: ${error.message}`, {cause: error});
      default:
        return internalError(error);
    }
  }
  return internalError(error);
}
