/** Whether a write may happen, and the version that it makes. Pure. */

import {type Revision, StoreError, type Write} from '../contract.ts';
import {maxImageBytes, maxKeyBytes} from '../limits.ts';
import type {Version} from './backing.ts';

/** @throws StoreError Exists, Changed, NotFound, TooLarge; or whatever `encode` throws. Then the revision was not used. */
export function judge(write: Write, current: Version | undefined, revision: Revision, now: number): Version {
  const {type, key, expected, operation} = write;
  if (expected === 'absent') {
    if (current) throw new StoreError('Exists', `${type} ${key} exists`, {current: current.stored});
    if (operation === 'delete') throw new StoreError('NotFound', `${type} ${key} does not exist`);
  } else {
    if (!current) throw new StoreError('NotFound', `${type} ${key} does not exist`);
    if (current.stored.revision !== expected)
      throw new StoreError('Changed', `${type} ${key} is at revision ${current.stored.revision}, not ${expected}`, {
        current: current.stored,
      });
  }
  if (key.length > maxKeyBytes || Buffer.byteLength(key) + Buffer.byteLength(type) > maxKeyBytes)
    throw new StoreError('TooLarge', `keys hold at most ${maxKeyBytes} bytes`);
  const image = write.encode(revision);
  if (image.length > maxImageBytes)
    throw new StoreError('TooLarge', `${type} ${key} takes ${image.length} bytes, more than ${maxImageBytes}`);
  return {
    stored: {key, revision, image, index: write.index},
    operation: operation === 'delete' ? 'delete' : current ? 'update' : 'create',
    previousRevision: current?.stored.revision ?? 0,
    time: now,
  };
}
