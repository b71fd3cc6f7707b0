/**
 * Image and index as the bytes of an item. First byte: how the rest is packed (0 as it is, 1 deflate, 2 brotli); then the length of the
 * index as u32, the index as JSON, the image. `Transform` is the seam for encryption at rest by a key of the user's own.
 *
 * Measured on a pod of 1.8 KB: deflate 19 µs to 791 bytes, brotli 30 µs to 758; on 0.7 MB of pods brotli takes two thirds of the time
 * and a third of the room. Both are unpacked in 9 µs.
 */

import {brotliCompressSync, brotliDecompressSync, constants, deflateRawSync, inflateRawSync} from 'node:zlib';
import {type Index, StoreError} from '../contract.ts';

export interface Transform {
  seal(bytes: Uint8Array): Uint8Array;
  open(bytes: Uint8Array): Uint8Array;
}

export interface Content {
  image: Uint8Array;
  index: Index;
}

const plain = 0;
const deflated = 1;
const brotli = 2;
/** Below it nothing is won. */
const packedFromBytes = 128;
const brotliFromBytes = 64 * 1024;
const brotliOptions = {params: {[constants.BROTLI_PARAM_QUALITY]: 4}};
const noIndex: Index = Object.freeze({});

export function pack({image, index}: Content, transform?: Transform): Uint8Array {
  const indexText = index.labels || index.fields ? JSON.stringify(index) : '';
  const indexBytes = Buffer.byteLength(indexText);
  const bytes = Buffer.allocUnsafe(4 + indexBytes + image.length);
  bytes.writeUInt32BE(indexBytes, 0);
  bytes.write(indexText, 4);
  bytes.set(image, 4 + indexBytes);
  let form = plain;
  let packed = bytes;
  if (bytes.length >= packedFromBytes) {
    const large = bytes.length >= brotliFromBytes;
    const smaller = large ? brotliCompressSync(bytes, brotliOptions) : deflateRawSync(bytes);
    if (smaller.length < bytes.length) {
      form = large ? brotli : deflated;
      packed = smaller;
    }
  }
  const body = Buffer.allocUnsafe(1 + packed.length);
  body[0] = form;
  body.set(packed, 1);
  return transform ? transform.seal(body) : body;
}

/** @throws StoreError Corrupt */
export function unpack(sealed: Uint8Array, transform?: Transform): Content {
  try {
    const body = transform ? transform.open(sealed) : sealed;
    const rest = body.subarray(1);
    const bytes =
      body[0] === deflated
        ? inflateRawSync(rest)
        : body[0] === brotli
          ? brotliDecompressSync(rest)
          : Buffer.from(rest.buffer, rest.byteOffset, rest.length);
    if (body[0]! > brotli) throw new RangeError(`form ${body[0]}`);
    const indexEnd = 4 + bytes.readUInt32BE(0);
    return {
      image: bytes.subarray(indexEnd),
      index: indexEnd === 4 ? noIndex : (JSON.parse(bytes.toString('utf8', 4, indexEnd)) as Index),
    };
  } catch (cause) {
    throw new StoreError('Corrupt', 'an item that is stored cannot be read', {cause});
  }
}
