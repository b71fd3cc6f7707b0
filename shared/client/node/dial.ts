/** A WebSocket for the watch protocol, by `ws`, which is loaded with the first one. */
import type {WebSocket} from 'ws';
import {maxMessageBytes} from '../../changes/protocol/limits.ts';
import type {Transport, TransportEvents} from '../../changes/protocol/link.ts';
import {subprotocol} from '../../changes/protocol/messages.ts';
import type {Credentials} from './credentials.ts';
import {tlsOptions} from './http-connection.ts';

const handshakeMs = 15_000;

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
    const [{WebSocket}, presented] = await Promise.all([import('ws'), credentials.present()]);
    if (closed) return;
    socket = new WebSocket(url, subprotocol, {
      ...tlsOptions(credentials, presented),
      headers: {...(presented.authorization && {authorization: presented.authorization})},
      handshakeTimeout: handshakeMs,
      // The protocol's own bound, and no more from a server either.
      maxPayload: 2 * maxMessageBytes,
      perMessageDeflate: false,
    });
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
