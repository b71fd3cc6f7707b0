/** The watch protocol on WebSockets: what shared/changes/protocol/session.ts says and hears, carried by `ws` over connections of the gateway. */
import type {IncomingMessage} from 'node:http';
import type {TLSSocket} from 'node:tls';
import {type WebSocket, WebSocketServer} from 'ws';
import type {Api} from '../../shared/api.ts';
import {Topics} from '../../shared/changes/protocol/broadcast.ts';
import {maxMessageBytes} from '../../shared/changes/protocol/limits.ts';
import {closeCodes, subprotocol} from '../../shared/changes/protocol/messages.ts';
import {type Carrier, type Rooms, Session} from '../../shared/changes/protocol/session.ts';
import {requestOf} from '../../shared/changes/protocol/topic.ts';
import {type Clock, systemClock} from '../../shared/clock.ts';
import {badRequest, notAcceptable, type Status, StatusError} from '../../shared/errors.ts';
import type {ApiRequest} from '../../shared/http/messages.ts';
import {watchBufferBytes} from '../../shared/limits.ts';
import {peerOf} from './peer.ts';

type AskedApi = Pick<Api, 'handle' | 'authenticate'>;

export class WatchSockets {
  readonly #api: AskedApi;
  readonly #clock: Clock;
  readonly #topics = new Topics();
  readonly #sessions = new Set<Session>();
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: () => subprotocol,
  });

  constructor(api: AskedApi, clock: Clock = systemClock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** A handshake that asks for the protocol; what is wrong with it as a handshake `ws` answers. */
  accept(message: IncomingMessage, socket: TLSSocket, head: Buffer): void {
    const rooms = roomsOf(this.#api, message, socket);
    // A watch may be quiet for as long as it likes: its pings are the protocol's.
    socket.setTimeout(0);
    this.#server.handleUpgrade(message, socket, head, (webSocket) => this.#serve(webSocket, socket, rooms));
  }

  drain(): void {
    for (const session of [...this.#sessions]) session.drain();
  }

  #serve(webSocket: WebSocket, socket: TLSSocket, rooms: Rooms): void {
    const session = new Session({rooms, topics: this.#topics, clock: this.#clock, carrier: carrierOf(webSocket, socket)});
    this.#sessions.add(session);
    // Nothing in the protocol is binary: what is will not be understood, and that is said.
    webSocket.on('message', (data: Buffer, isBinary: boolean) => session.receive(isBinary ? '' : data.toString()));
    // `ws` closes by itself after an error, with the code that fits.
    webSocket.on('error', () => {});
    webSocket.on('close', () => {
      this.#sessions.delete(session);
      session.close();
    });
  }
}

function carrierOf(webSocket: WebSocket, socket: TLSSocket): Carrier {
  return {
    send: (bytes) => webSocket.send(bytes, asText),
    room: () => (socket.writableNeedDrain && !socket.destroyed ? drained(socket) : undefined),
    get overfull() {
      return webSocket.bufferedAmount > watchBufferBytes;
    },
    close: (code, reason) => {
      // Behind what waits for a client that takes nothing the close would wait as well.
      if (code === closeCodes.slow) webSocket.terminate();
      else webSocket.close(code, reason.slice(0, 100));
    },
  };
}

const asText = {binary: false};

function drained(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.removeListener('drain', done);
      socket.removeListener('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}

/** The rooms that requests go through, asked for somebody who said once who it is. */
function roomsOf(api: AskedApi, message: IncomingMessage, socket: TLSSocket): Rooms {
  const peer = peerOf(socket);
  return {
    authenticate: (token) =>
      api.authenticate({
        peer,
        headers: token === undefined ? (message.headers as ApiRequest['headers']) : {authorization: `Bearer ${token}`},
      }),
    async open(user, selection) {
      const {feed, status, headers, body} = await api.handle({...requestOf(selection), user, peer, asFeed: true});
      if (feed) return feed;
      // An error comes in the form that was asked for as well.
      if (status >= 400 && !String(headers['content-type']).startsWith('application/json'))
        throw notAcceptable('events are framed as JSON only');
      if (status >= 400 && body instanceof Uint8Array) throw new StatusError(JSON.parse(Buffer.from(body).toString()) as Status);
      throw badRequest('what is subscribed to must be a collection');
    },
  };
}
