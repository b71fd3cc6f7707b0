/** Tunnels of nodes on WebSockets: what shared/nodes/tunnel/host.ts says and hears, carried by `ws` over connections of the gateway. */
import type {IncomingMessage} from 'node:http';
import type {TLSSocket} from 'node:tls';
import {type WebSocket, WebSocketServer} from 'ws';
import type {Api} from '../../shared/api.ts';
import type {ApiRequest} from '../../shared/http/messages.ts';
import {maxBinaryMessageBytes, tunnelProtocol} from '../../shared/nodes/tunnel/frames.ts';
import type {TunnelHost, TunnelRooms} from '../../shared/nodes/tunnel/host.ts';
import {messageCarrier} from '../../shared/nodes/tunnel/web-socket.ts';
import {peerOf} from './peer.ts';

type AskedApi = Pick<Api, 'handle' | 'authenticate'>;

export class NodeTunnels {
  readonly #api: AskedApi;
  readonly #host: TunnelHost;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxBinaryMessageBytes,
    perMessageDeflate: false,
    handleProtocols: () => tunnelProtocol,
  });

  constructor(api: AskedApi, host: TunnelHost) {
    this.#api = api;
    this.#host = host;
  }

  accept(message: IncomingMessage, socket: TLSSocket, head: Buffer): void {
    const rooms = roomsOf(this.#api, message, socket);
    socket.setTimeout(0);
    this.#server.handleUpgrade(message, socket, head, (webSocket) => this.#serve(webSocket, rooms));
  }

  drain(): void {
    this.#host.drain();
  }

  #serve(webSocket: WebSocket, rooms: TunnelRooms): void {
    const session = this.#host.accept(messageCarrier(webSocket), rooms);
    webSocket.on('message', (data: Buffer, isBinary: boolean) => session.receive(isBinary ? data : data.toString()));
    webSocket.on('error', () => {});
    webSocket.on('close', () => session.closed());
  }
}

function roomsOf(api: AskedApi, message: IncomingMessage, socket: TLSSocket): TunnelRooms {
  const peer = peerOf(socket);
  return {
    authenticate: (token) =>
      api.authenticate({
        peer,
        headers: token === undefined ? (message.headers as ApiRequest['headers']) : {authorization: `Bearer ${token}`},
      }),
    async mayHold(user, node) {
      const resourceAttributes = {verb: 'update', version: 'v1', resource: 'nodes', subresource: 'status', name: node};
      const {status, body} = await api.handle({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        query: [],
        headers: {'content-type': 'application/json'},
        body: Buffer.from(
          JSON.stringify({kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: {resourceAttributes}}),
        ),
        user,
        peer,
      });
      if (status !== 201) throw new Error(`access review answered ${status}`);
      return (JSON.parse(Buffer.from(body as Uint8Array).toString()) as {status: {allowed?: boolean}}).status.allowed === true;
    },
  };
}
