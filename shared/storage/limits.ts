/** Bounds on what an engine stores. */

import {maxBodyBytes} from '../limits.ts';

/** A body at its limit still fits after the server has added its own metadata (uid, timestamps, managed fields). */
export const maxImageBytes = maxBodyBytes + 256 * 1024;
/** Type and key together; under DynamoDB's limit for a sort key, and LMDB's for 4 KiB pages. Names and namespaces take 253 and 63. */
export const maxKeyBytes = 1_000;
