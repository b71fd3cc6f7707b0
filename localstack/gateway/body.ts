/**
 * Collects a request body. Never holds more than one byte over the limit: what comes back is then longer than the limit, which is
 * how the API knows that it must answer 413, in its own words and after it knows who asks.
 */
import {maxBodyBytes} from '../../shared/limits.ts';

/** What Node's HTTP/1 requests and HTTP/2 streams have in common. */
export interface BodySource {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  removeListener(event: 'data', listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
}

const none = new Uint8Array(0);

/** Calls back once: with the body, or with undefined when the client went away in the middle of it. */
export function collectBody(source: BodySource, done: (body: Uint8Array | undefined) => void, limit = maxBodyBytes): void {
  let chunks: Buffer[] | undefined;
  let first: Buffer | undefined;
  let size = 0;
  let finished = false;
  const finish = (body: Uint8Array | undefined): void => {
    if (finished) return;
    finished = true;
    done(body);
  };
  const onData = (chunk: Buffer): void => {
    const room = limit + 1 - size;
    const piece = chunk.length > room ? chunk.subarray(0, room) : chunk;
    size += piece.length;
    if (!first) first = piece;
    else if (chunks) chunks.push(piece);
    else chunks = [first, piece];
    if (size > limit) {
      source.removeListener('data', onData);
      // The rest flows into the void: a client that writes before it reads would otherwise never see the answer.
      source.resume();
      finish(chunks ? Buffer.concat(chunks, size) : first);
      chunks = undefined;
    }
  };
  source.on('data', onData);
  source.on('end', () => finish(chunks ? Buffer.concat(chunks, size) : (first ?? none)));
  source.on('close', () => finish(undefined));
}
