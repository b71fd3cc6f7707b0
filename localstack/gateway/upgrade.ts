/**
 * Requests that want another protocol on their connection. Those for the watch protocol get it, and those for a node's tunnel (watch-socket.ts,
 * node-tunnels.ts, loaded with the first of them); those for a way through to a node are asked of the API (through.ts); all others are requests like any other.
 */
import type {IncomingMessage} from 'node:http';
import type {TLSSocket} from 'node:tls';
import type {Api, Log} from '../../shared/api.ts';
import {impersonates} from '../../shared/auth/impersonation-headers.ts';
import {subprotocol} from '../../shared/changes/protocol/messages.ts';
import {tunnelProtocol} from '../../shared/nodes/tunnel/frames.ts';
import type {TunnelHost} from '../../shared/nodes/tunnel/host.ts';
import type {Desk, ServedApi} from './answer.ts';
import {hangUp} from './broken.ts';
import {connectionHeaders} from './request.ts';
import {isThrough, Throughs} from './through.ts';

/** No path of the Kubernetes API begins like these. */
export const watchSocketPath = '/watch-socket';
export const nodeTunnelPath = '/node-tunnel';

/** A room for WebSockets of one protocol. */
interface Sockets {
  accept(message: IncomingMessage, socket: TLSSocket, head: Buffer): void;
  drain(): void;
}

type Open = (api: Pick<Api, 'handle' | 'authenticate'>) => Promise<Sockets>;

interface Room {
  open: Open;
  opened?: Promise<Sockets>;
}

export class Upgrades {
  readonly #api: Promise<ServedApi>;
  readonly #log: Log | undefined;
  readonly #throughs: Throughs;
  /** By what is asked for: path and subprotocol. */
  readonly #rooms: Map<string, Room>;
  #draining = false;

  constructor(api: Promise<ServedApi>, desk: Desk, tunnels: (() => Promise<TunnelHost>) | undefined) {
    this.#api = api;
    this.#log = desk.log;
    this.#throughs = new Throughs(desk);
    const watches: Open = async (asked) => new (await import('./watch-socket.ts')).WatchSockets(asked);
    this.#rooms = new Map<string, Room>([[`${watchSocketPath} ${subprotocol}`, {open: watches}]]);
    if (!tunnels) return;
    const nodes: Open = async (asked) => {
      const [{NodeTunnels}, host] = await Promise.all([import('./node-tunnels.ts'), tunnels()]);
      return new NodeTunnels(asked, host);
    };
    this.#rooms.set(`${nodeTunnelPath} ${tunnelProtocol}`, {open: nodes});
  }

  /** `again` has the connection read as HTTP from its next byte on. */
  take(message: IncomingMessage, socket: TLSSocket, head: Buffer, again: () => void): void {
    if (isThrough(message)) {
      this.#throughs.take(message, socket, head);
      return;
    }
    const room = this.#roomFor(message);
    if (!room) {
      connectionHeaders.set(socket, message.headers.connection!);
      socket.unshift(Buffer.concat([asPlainRequest(message), head]));
      again();
      return;
    }
    // Until the WebSocket library has it nobody else listens.
    const onError = (): void => {};
    socket.on('error', onError);
    this.#accept(room, message, socket, head)
      .catch((error: unknown) => {
        this.#log?.error({err: error, path: message.url}, 'WebSocket handshake failed');
        hangUp(socket, 500);
      })
      .finally(() => socket.removeListener('error', onError));
  }

  drain(): void {
    this.#draining = true;
    this.#throughs.drain();
    for (const {opened} of this.#rooms.values()) void opened?.then((sockets) => sockets.drain());
  }

  #roomFor({url, method, headers}: IncomingMessage): Room | undefined {
    if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
    const path = url!.split('?')[0]!;
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
    return offered.map((protocol) => this.#rooms.get(`${path} ${protocol}`)).find((room) => room !== undefined);
  }

  async #accept(room: Room, message: IncomingMessage, socket: TLSSocket, head: Buffer): Promise<void> {
    if (impersonates(message.headers as Record<string, string>)) return hangUp(socket, 400);
    const api = await this.#api;
    const {authenticate} = api;
    if (!authenticate || this.#draining) return hangUp(socket, 503);
    room.opened ??= room.open({handle: api.handle, authenticate});
    const sockets = await room.opened;
    if (socket.destroyed) return;
    sockets.accept(message, socket, head);
  }
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
