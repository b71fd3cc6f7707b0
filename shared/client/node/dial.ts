/** A WebSocket for the watch protocol, by `ws`, which is loaded with the first one. */
import type {ClientOptions, WebSocket} from 'ws';
import {maxMessageBytes} from '../../changes/protocol/limits.ts';
import type {Transport, TransportEvents} from '../../changes/protocol/link.ts';
import {subprotocol} from '../../changes/protocol/messages.ts';
import type {Credentials} from './credentials.ts';
import {tlsOptions} from './http-connection.ts';

const handshakeMs = 15_000;

/**
 * A WebSocket that is being opened, with what is shown with any request: certificate, Authorization header. `url`: see `socketUrl`.
 * @throws Error when there is no credential to show
 */
export async function openSocket(
  url: string,
  protocol: string,
  credentials: Credentials,
  options: Pick<ClientOptions, 'headers' | 'maxPayload' | 'handshakeTimeout'> = {},
): Promise<WebSocket> {
  const [{WebSocket}, presented] = await Promise.all([import('ws'), credentials.present()]);
  const {authorization, headers} = presented;
  return new WebSocket(url, protocol, {
    ...tlsOptions(credentials, presented),
    handshakeTimeout: handshakeMs,
    perMessageDeflate: false,
    ...options,
    headers: {...headers, ...(authorization && {authorization}), ...options.headers},
  });
}

/** Of a server's own WebSocket (a path), or of one that it names elsewhere. */
export function socketUrl(address: string, server: string): URL {
  const url = new URL(address.startsWith('/') ? `${server}${address}` : address);
  // Whatever the server says: a credential that was shown under TLS is not shown without.
  url.protocol = server.startsWith('https:') ? 'wss:' : url.protocol.replace('http', 'ws');
  return url;
}

/** `url`: wss: or ws:. What fails shows as a connection that closes. */
export function dial(url: string, credentials: Credentials, events: TransportEvents): Transport {
  let socket: WebSocket | undefined;
  let closed = false;
  const close = (code: number, reason: string): void => {
    if (closed) return;
    closed = true;
    events.closed(code, reason);
  };
  void (async () => {
    // The protocol's own bound, and no more from a server either.
    socket = await openSocket(url, subprotocol, credentials, {maxPayload: 2 * maxMessageBytes});
    if (closed) {
      // Nobody listens to what it says to that.
      socket.on('error', () => {});
      return socket.terminate();
    }
    let problem = '';
    socket.on('open', () => events.open());
    socket.on('message', (data: Buffer) => events.message(data.toString()));
    socket.on('error', (error) => {
      problem = error.message;
    });
    socket.on('close', (code, reason) => close(code, reason.toString() || problem));
  })().catch((error: Error) => close(1006, error.message));
  return {
    send: (text) => {
      if (socket?.readyState === socket?.OPEN) socket?.send(text);
    },
    close: (code) => {
      closed = true;
      if (!socket) return;
      if (socket.readyState === socket.OPEN) socket.close(code);
      else socket.terminate();
    },
  };
}
