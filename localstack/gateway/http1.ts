/** HTTP/1.1: a Node request into an ApiRequest, an ApiResponse into a Node response. Upgrades come through here as plain requests. */
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {TLSSocket} from 'node:tls';
import type {ApiRequest, ApiResponse, Peer} from '../../shared/http/messages.ts';
import {parseTarget} from '../../shared/http/target.ts';
import {answer, bodiless, type Desk, isStream, overloaded} from './answer.ts';
import {collectBody} from './body.ts';
import {hangUp} from './broken.ts';
import {chunkedSink} from './chunked.ts';
import {peerOf} from './peer.ts';
import {connectionHeaders, GatewayRequest, mayHaveBody} from './request.ts';
import {carry} from './stream.ts';

const peers = new WeakMap<object, Peer>();

export function http1(desk: Desk): (message: IncomingMessage, response: ServerResponse) => void {
  return (message, response) => {
    const method = message.method!;
    const target = parseTarget(message.url!);
    if (!target) {
      refuse(message, response);
      return;
    }
    let peer = peers.get(message.socket);
    if (!peer) {
      peer = peerOf(message.socket as TLSSocket);
      peers.set(message.socket, peer);
    }
    const {headers} = message;
    if (headers.upgrade !== undefined) headers.connection = connectionHeaders.get(message.socket) ?? headers.connection;
    const request = new GatewayRequest(method, target, headers as ApiRequest['headers'], peer);
    desk.inFlight++;
    response.on('close', () => {
      desk.inFlight--;
      request.abandon();
    });
    if (mayHaveBody(method) && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')) {
      collectBody(message, desk.bodies, (body) => {
        if (body === 'gone') return;
        if (body !== 'overloaded') request.body = body;
        void serve(desk, request, response, body === 'overloaded');
      });
    } else {
      void serve(desk, request, response);
    }
  };
}

async function serve(desk: Desk, request: GatewayRequest, out: ServerResponse, turnedAway = false): Promise<void> {
  const response = turnedAway ? overloaded() : await answer(desk, request);
  // Go says nothing of a connection that stays open, Node would.
  if (desk.closing) out.setHeader('connection', 'close');
  else if (out.req.httpVersionMinor > 0) out.removeHeader('connection');
  try {
    await write(response, out);
  } catch (error) {
    // A header that cannot be sent, or a stream that broke: there is no way left to tell the client but to hang up.
    desk.log?.error({err: error, method: request.method, path: request.path}, 'answer could not be written');
    out.destroy();
  }
}

export async function write({status, headers, body}: ApiResponse, out: ServerResponse): Promise<void> {
  if (isStream(body)) {
    if (!out.destroyed) {
      out.writeHead(status, headers);
      out.flushHeaders();
    }
    return carry(body, chunkedSink(out));
  }
  if (out.destroyed) return;
  if (headers['content-length'] === undefined && !bodiless(status)) {
    out.writeHead(status, {...headers, 'content-length': String(body?.length ?? 0)});
  } else {
    out.writeHead(status, headers);
  }
  out.end(body);
}

/** Targets that never reach a handler: `OPTIONS *` is a ping, the rest is not HTTP. The words are those of Go's server. */
function refuse(message: IncomingMessage, response: ServerResponse): void {
  if (message.method === 'OPTIONS' && message.url === '*') response.writeHead(200, {'content-length': '0'}).end();
  else hangUp(message.socket, 400);
}
