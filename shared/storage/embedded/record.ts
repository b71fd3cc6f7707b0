/**
 * A version as bytes, form 1 (all numbers big-endian):
 *
 *     u8 operation | f64 previous revision | f64 time | u16 key length | u32 index length | key | index as JSON | image
 *
 * The revision itself is in the database key.
 */

import type {Index, Operation, Revision} from '../contract.ts';
import type {Version} from './backing.ts';

const operations: readonly Operation[] = ['create', 'update', 'delete'];
const headerBytes = 23;
const noIndex: Index = Object.freeze({});

export function encodeVersion({stored, operation, previousRevision, time}: Version): Buffer {
  const {key, index, image} = stored;
  const indexText = index.labels || index.fields ? JSON.stringify(index) : '';
  const keyBytes = Buffer.byteLength(key);
  const indexBytes = Buffer.byteLength(indexText);
  const bytes = Buffer.allocUnsafe(headerBytes + keyBytes + indexBytes + image.length);
  bytes[0] = operations.indexOf(operation);
  bytes.writeDoubleBE(previousRevision, 1);
  bytes.writeDoubleBE(time, 9);
  bytes.writeUInt16BE(keyBytes, 17);
  bytes.writeUInt32BE(indexBytes, 19);
  bytes.write(key, headerBytes);
  bytes.write(indexText, headerBytes + keyBytes);
  bytes.set(image, headerBytes + keyBytes + indexBytes);
  return bytes;
}

/** Copies what it keeps: `bytes` may be LMDB's own memory, or a buffer that the next read overwrites. */
export function decodeVersion(bytes: Buffer, length: number, revision: Revision): Version {
  const keyEnd = headerBytes + bytes.readUInt16BE(17);
  const indexEnd = keyEnd + bytes.readUInt32BE(19);
  const image = Buffer.allocUnsafe(length - indexEnd);
  bytes.copy(image, 0, indexEnd, length);
  return {
    stored: {
      key: bytes.toString('utf8', headerBytes, keyEnd),
      revision,
      image,
      index: indexEnd === keyEnd ? noIndex : (JSON.parse(bytes.toString('utf8', keyEnd, indexEnd)) as Index),
    },
    operation: operations[bytes[0]!]!,
    previousRevision: bytes.readDoubleBE(1),
    time: bytes.readDoubleBE(9),
  };
}
