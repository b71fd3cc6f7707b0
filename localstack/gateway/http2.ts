/**
 * HTTP/2, on Node's stream API: its compatibility layer costs about half as much again per request. Keeps what a session needs
 * across requests (who it is, how many streams are open) and what slow uploads are not allowed to need.
 */
import {constants, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream} from 'node:http2';
import type {TLSSocket} from 'node:tls';
import type {ApiRequest, ApiResponse, Peer} from '../../shared/http/messages.ts';
import {parseTarget} from '../../shared/http/target.ts';
import {answer, bodiless, type Desk, isStream, overloaded} from './answer.ts';
import {collectBody} from './body.ts';
import {peerOf} from './peer.ts';
import {GatewayRequest, mayHaveBody} from './request.ts';
import {carry, pump} from './stream.ts';
import {connectionWindowBytes, idleMs, type Patience, pieceBytes} from './transport-limits.ts';

interface SessionState {
  peer: Peer;
  openStreams: number;
}

export class Http2Desk {
  readonly #desk: Desk;
  readonly #sessions = new Map<Http2Session, SessionState>();
  /** Streams whose body is still coming, and until when it may. */
  readonly #uploads = new Map<ServerHttp2Stream, number>();

  readonly #patience: Patience;

  constructor(desk: Desk, patience: Patience) {
    this.#desk = desk;
    this.#patience = patience;
  }

  session(session: ServerHttp2Session): void {
    const state: SessionState = {peer: peerOf(session.socket as TLSSocket), openStreams: 0};
    this.#sessions.set(session, state);
    session.setLocalWindowSize(connectionWindowBytes);
    // A client that breaks the protocol or vanishes is its own loss.
    session.on('error', () => {});
    session.on('close', () => this.#sessions.delete(session));
    let greeted = false;
    session.setTimeout(this.#patience.handshakeMs, () => {
      if (!greeted) session.destroy();
      else if (state.openStreams === 0) session.close();
    });
    // A client begins with its settings; one that does not is none.
    session.once('remoteSettings', () => {
      greeted = true;
      session.setTimeout(idleMs);
    });
  }

  stream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', () => {});
    const state = stream.session && this.#sessions.get(stream.session);
    if (!state) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    const method = headers[':method']!;
    const target = parseTarget(headers[':path'] ?? '');
    if (!target) {
      refuse(stream, method, headers[':path']);
      return;
    }
    if (headers.host === undefined) headers.host = headers[':authority'];
    const request = new GatewayRequest(method, target, headers as ApiRequest['headers'], state.peer);
    state.openStreams++;
    this.#desk.inFlight++;
    stream.on('close', () => {
      state.openStreams--;
      this.#desk.inFlight--;
      request.abandon();
    });
    if (stream.endAfterHeaders || !mayHaveBody(method)) {
      void this.#serve(request, stream);
      return;
    }
    if (headers.expect === '100-continue') stream.additionalHeaders({':status': 100});
    this.#uploads.set(stream, Date.now() + this.#patience.requestMs);
    collectBody(stream, this.#desk.bodies, (body) => {
      this.#uploads.delete(stream);
      if (body === 'gone') return;
      if (body !== 'overloaded') request.body = body;
      void this.#serve(request, stream, body === 'overloaded');
    });
  }

  /** Ends uploads that take too long. Called now and then: a timer for each would cost more than most requests. */
  sweep(now: number): void {
    for (const [stream, until] of this.#uploads) if (until < now) stream.close(constants.NGHTTP2_CANCEL);
  }

  /** GOAWAY: what is under way goes on, nothing new comes. */
  drain(): void {
    for (const session of this.#sessions.keys()) session.close();
  }

  async #serve(request: GatewayRequest, stream: ServerHttp2Stream, turnedAway = false): Promise<void> {
    const response = turnedAway ? overloaded() : await answer(this.#desk, request);
    try {
      await write(response, stream, request.method);
    } catch (error) {
      this.#desk.log?.error({err: error, method: request.method, path: request.path}, 'answer could not be written');
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  }
}

async function write({status, headers, body}: ApiResponse, stream: ServerHttp2Stream, method: string): Promise<void> {
  const gone = stream.destroyed || stream.closed;
  if (isStream(body)) {
    if (!gone) {
      // Else Node would say that the answer is whole before it says that it broke.
      stream.once('wantTrailers', () => {
        if (!stream.closed && !stream.destroyed) stream.sendTrailers({});
      });
      stream.respond({':status': status, ...headers}, {waitForTrailers: true});
    }
    return carry(body, stream);
  }
  if (gone) return;
  const out: Record<string, string | string[] | number> = {':status': status, ...headers};
  if (out['content-length'] === undefined && !bodiless(status)) out['content-length'] = body?.length ?? 0;
  if (body === undefined || body.length === 0 || method === 'HEAD') {
    stream.respond(out, {endStream: true});
  } else {
    stream.respond(out);
    if (body.length <= pieceBytes) stream.end(body);
    else return pump(pieces(body), stream);
  }
}

/** What waits in a connection counts against its memory, and 20 large lists at once are what a controller manager starts with. */
async function* pieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

function refuse(stream: ServerHttp2Stream, method: string, path: string | undefined): void {
  if (method === 'OPTIONS' && path === '*') stream.respond({':status': 200}, {endStream: true});
  else {
    stream.respond({':status': 400, 'content-type': 'text/plain; charset=utf-8'});
    stream.end('400 Bad Request');
  }
}
