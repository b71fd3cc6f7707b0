/**
 * One HTTP/1.1 request over a stream that was dialled (roads.ts), answered as the API answers: with a body that is read as it comes, or
 * with the stream itself where the other side switches protocols. Which headers go on is the caller's affair, and so are words for errors.
 */
import {request as httpRequest, type IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import type {ApiResponse} from '../http/messages.ts';
import {maxHeaderBytes} from '../limits.ts';

export interface Exchanged {
  method: string;
  /** With the query, escaped. */
  target: string;
  /** With `host`; for an upgrade with `connection` and `upgrade`. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: Uint8Array;
  /** The client is gone: so is the exchange, whatever it has come to. */
  signal?: AbortSignal;
}

/** Takes the stream, which is of no use to anybody else any more. @throws Error of the stream, of what is no HTTP, or AbortError */
export function exchange(stream: Duplex, {method, target, headers, body, signal}: Exchanged): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const given: Record<string, string | readonly string[]> = {};
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) given[name] = value;
    if (body?.length && given['content-length'] === undefined) given['content-length'] = String(body.length);
    const abandon = (): void => void stream.destroy();
    const fail = (error: Error): void => {
      signal?.removeEventListener('abort', abandon);
      stream.destroy();
      reject(signal?.aborted ? abortError() : error);
    };
    if (signal?.aborted) return fail(abortError());
    signal?.addEventListener('abort', abandon, {once: true});
    stream.once('close', () => signal?.removeEventListener('abort', abandon));
    try {
      const request = httpRequest({
        createConnection: () => stream,
        method,
        path: target,
        headers: given as Record<string, string | string[]>,
        setHost: given['host'] === undefined,
        maxHeaderSize: maxHeaderBytes,
      });
      request.on('error', fail);
      request.on('response', (message) => resolve(answerOf(message, stream, method, signal)));
      request.on('upgrade', (message, _socket, head) => {
        if (given['upgrade'] === undefined) return fail(new Error('it switches protocols without being asked'));
        if (head.length > 0) stream.unshift(head);
        resolve({status: message.statusCode!, headers: headersOf(message), upgrade: stream});
      });
      request.end(body);
    } catch (error) {
      // A header that cannot be sent.
      fail(error as Error);
    }
  });
}

const abortError = (): Error => Object.assign(new Error('the client is gone'), {name: 'AbortError'});

function answerOf(message: IncomingMessage, stream: Duplex, method: string, signal: AbortSignal | undefined): ApiResponse {
  const {statusCode: status = 502} = message;
  const answer = {status, headers: headersOf(message)};
  if (method !== 'HEAD' && status !== 204 && status !== 304) return {...answer, body: bodyOf(message, stream, signal)};
  message.resume();
  message.on('end', () => stream.destroy());
  return answer;
}

/** Whoever stops reading ends the exchange, at once. @throws Error when the road breaks before the body has ended */
function bodyOf(message: IncomingMessage, stream: Duplex, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const pieces = piecesOf(message, stream, signal);
  const over = pieces.return.bind(pieces);
  // A generator hears of it when it has begun and is not waiting: here it may be neither.
  pieces.return = (value) => {
    stream.destroy();
    return over(value);
  };
  return pieces;
}

async function* piecesOf(message: IncomingMessage, stream: Duplex, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  try {
    yield* message;
  } catch (error) {
    // Nobody is there to be told.
    if (!signal?.aborted) throw error;
  } finally {
    stream.destroy();
  }
}

function headersOf({headersDistinct}: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(headersDistinct)) headers[name] = values!.length === 1 ? values![0]! : values!;
  return headers;
}
