/** gzip of large answers, for clients that ask for it in the one form that the reference understands. */
import {promisify} from 'node:util';
import {gzip} from 'node:zlib';
import {gzipThresholdBytes} from '../limits.ts';
import type {ApiResponse} from './messages.ts';

const compress = promisify(gzip);
/** Bodies that the API keeps (hot lists, OpenAPI) come here again as the same object: squeeze each once. */
const known = new WeakMap<Uint8Array, Promise<Uint8Array>>();

/** Only the bare token counts: the reference does not look at q-values. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  return acceptEncoding === 'gzip' || acceptEncoding.split(',').some((token) => token.trim() === 'gzip');
}

export function worthCompressing(response: ApiResponse, acceptEncoding: string | undefined): boolean {
  const body = response.body;
  return (
    body instanceof Uint8Array &&
    body.length > gzipThresholdBytes &&
    response.headers['content-encoding'] === undefined &&
    acceptsGzip(acceptEncoding)
  );
}

/** The same answer, compressed. Runs on libuv's threads: the event loop goes on. */
export async function compressed(response: ApiResponse): Promise<ApiResponse> {
  const body = response.body as Uint8Array;
  let squeezed = known.get(body);
  if (!squeezed) {
    squeezed = compress(body, {level: 1});
    known.set(body, squeezed);
  }
  const small = await squeezed;
  const vary = response.headers['vary'];
  return {
    status: response.status,
    headers: {
      ...response.headers,
      'content-encoding': 'gzip',
      vary: vary === undefined ? 'Accept-Encoding' : [...(Array.isArray(vary) ? vary : [vary]), 'Accept-Encoding'],
      'content-length': String(small.length),
    },
    body: small,
  };
}
