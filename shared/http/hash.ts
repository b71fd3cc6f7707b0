/** Digests by WebCrypto, which every platform that we run on has. */

const digest = async (data: Uint8Array | string, algorithm: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest(algorithm, typeof data === 'string' ? Buffer.from(data) : Buffer.from(data)));

/** The first `bytes` bytes of the SHA-256, in base64. */
export const sha256Base64 = async (data: Uint8Array | string, bytes = 32): Promise<string> =>
  Buffer.from((await digest(data, 'SHA-256')).subarray(0, bytes)).toString('base64');

/** Upper-case hex of the SHA-512, the form of the reference's ETags. */
export const sha512Hex = async (data: Uint8Array | string): Promise<string> =>
  Buffer.from(await digest(data, 'SHA-512'))
    .toString('hex')
    .toUpperCase();
