/**
 * Requests that want another protocol on their connection. Those for the watch protocol get it (watch-socket.ts, loaded with the first
 * of them); those for a way through to a node are asked of the API (through.ts); all others are requests like any other.
 */
import type {IncomingMessage} from 'node:http';
import type {TLSSocket} from 'node:tls';
import type {Log} from '../../shared/api.ts';
import {impersonates} from '../../shared/auth/impersonation-headers.ts';
import {subprotocol} from '../../shared/changes/protocol/messages.ts';
import type {Desk, ServedApi} from './answer.ts';
import {hangUp} from './broken.ts';
import {connectionHeaders} from './request.ts';
import {isThrough, Throughs} from './through.ts';
import type {WatchSockets} from './watch-socket.ts';

/** No path of the Kubernetes API begins like it. */
export const watchSocketPath = '/watch-socket';

export class Upgrades {
  readonly #api: Promise<ServedApi>;
  readonly #log: Log | undefined;
  readonly #throughs: Throughs;
  #sockets: Promise<WatchSockets> | undefined;
  #draining = false;

  constructor(api: Promise<ServedApi>, desk: Desk) {
    this.#api = api;
    this.#log = desk.log;
    this.#throughs = new Throughs(desk);
  }

  /** `again` has the connection read as HTTP from its next byte on. */
  take(message: IncomingMessage, socket: TLSSocket, head: Buffer, again: () => void): void {
    if (isThrough(message)) {
      this.#throughs.take(message, socket, head);
      return;
    }
    if (!isWatchSocket(message)) {
      connectionHeaders.set(socket, message.headers.connection!);
      socket.unshift(Buffer.concat([asPlainRequest(message), head]));
      again();
      return;
    }
    // Until the WebSocket library has it nobody else listens.
    const onError = (): void => {};
    socket.on('error', onError);
    this.#accept(message, socket, head)
      .catch((error: unknown) => {
        this.#log?.error({err: error, path: message.url}, 'WebSocket handshake failed');
        hangUp(socket, 500);
      })
      .finally(() => socket.removeListener('error', onError));
  }

  drain(): void {
    this.#draining = true;
    this.#throughs.drain();
    void this.#sockets?.then((sockets) => sockets.drain());
  }

  async #accept(message: IncomingMessage, socket: TLSSocket, head: Buffer): Promise<void> {
    if (impersonates(message.headers as Record<string, string>)) return hangUp(socket, 400);
    const api = await this.#api;
    const {authenticate} = api;
    if (!authenticate || this.#draining) return hangUp(socket, 503);
    this.#sockets ??= import('./watch-socket.ts').then(({WatchSockets}) => new WatchSockets({handle: api.handle, authenticate}));
    const sockets = await this.#sockets;
    if (socket.destroyed) return;
    sockets.accept(message, socket, head);
  }
}

function isWatchSocket({url, method, headers}: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  if (url?.split('?')[0] !== watchSocketPath) return false;
  return (headers['sec-websocket-protocol'] ?? '').split(',').some((offered) => offered.trim() === subprotocol);
}

/** Its bytes once more, without the word by which Node's parser takes it for an upgrade. */
function asPlainRequest({method, url, httpVersion, rawHeaders}: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    let value = rawHeaders[at + 1]!;
    if (name.toLowerCase() === 'connection') {
      value = value
        .split(',')
        .filter((token) => token.trim().toLowerCase() !== 'upgrade')
        .join(',');
    }
    if (value !== '' || name.toLowerCase() !== 'connection') lines.push(`${name}: ${value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
