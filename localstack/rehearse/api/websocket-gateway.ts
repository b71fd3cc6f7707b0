/**
 * A WebSocket API on loopback: $connect decides (its answer's headers carry the subprotocol), messages go to their route's function, one
 * after another per connection, $disconnect is told at the end. Limits are API Gateway's (limits.ts).
 */
import {randomBytes, randomUUID} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {type WebSocket, WebSocketServer} from 'ws';
import {Throttled} from '../lambda/pool.ts';
import {FunctionError} from '../lambda/runtime-api.ts';
import {type Connection, Connections} from './connections.ts';
import type {WebSocketApi} from './deployed.ts';
import {FrameWatch} from './frame-watch.ts';
import {connectionAgeMs, connectionIdleMs, frameLimit, messageLimit} from './limits.ts';
import type {Invoke} from './rest-gateway.ts';
import {addValue, lasts, type Values} from './values.ts';

interface RouteAnswer {
  statusCode?: number;
  headers?: Record<string, string>;
}

export class WebSocketGateway {
  readonly connections = new Connections();
  readonly #api: () => WebSocketApi | undefined;
  readonly #invoke: Invoke;
  readonly #note: (line: string) => void;
  readonly #server = new WebSocketServer({noServer: true, maxPayload: messageLimit, perMessageDeflate: false});

  constructor(api: () => WebSocketApi | undefined, invoke: Invoke, note: (line: string) => void) {
    this.#api = api;
    this.#invoke = invoke;
    this.#note = note;
  }

  /** For a server's 'upgrade' event. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {});
    this.#connect(request, socket, head).catch((error: unknown) => {
      this.#note(`WebSocket ${request.url}: ${error instanceof Error ? error.stack : error}`);
      refuse(socket, 500);
    });
  }

  close(): void {
    for (const {socket} of this.connections) socket.terminate();
    this.#server.close();
  }

  async #connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const api = this.#api();
    const [path, query = ''] = (request.url ?? '/').split('?', 2);
    if (!api || (path !== `/${api.stage}` && path !== `/${api.stage}/`)) return refuse(socket, 403);
    const id = `${randomBytes(11).toString('base64url')}=`;
    const client = {
      id,
      connectedAt: new Date(),
      sourceIp: request.socket.remoteAddress ?? '',
      userAgent: request.headers['user-agent'] ?? '',
    };
    const context = (routeKey: string, eventType: string, more: object = {}): object => contextOf(api, client, routeKey, eventType, more);

    const answer = await this.#call(api, '$connect', {...connectEvent(request, query), requestContext: context('$connect', 'CONNECT')});
    const status = answer?.statusCode ?? 500;
    if (status < 200 || status > 299) return refuse(socket, status);
    const subprotocol = Object.entries(answer?.headers ?? {}).find(([name]) => name.toLowerCase() === 'sec-websocket-protocol')?.[1];
    // The library would choose by itself; it is the function's to say.
    if (subprotocol === undefined) delete request.headers['sec-websocket-protocol'];
    else request.headers['sec-websocket-protocol'] = subprotocol;
    const frames = new FrameWatch(frameLimit);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#serve(api, webSocket, client, context);
      socket.on('data', (piece: Buffer) => {
        if (!frames.push(piece)) webSocket.close(1009);
      });
    });
  }

  #serve(
    api: WebSocketApi,
    socket: WebSocket,
    client: Pick<Connection, 'id' | 'connectedAt' | 'sourceIp' | 'userAgent'>,
    context: (routeKey: string, eventType: string, more?: object) => object,
  ): void {
    const age = setTimeout(() => socket.close(1001, 'Going away'), connectionAgeMs);
    const idle = setTimeout(() => socket.close(1001, 'Going away'), connectionIdleMs);
    const connection: Connection = {
      ...client,
      socket,
      lastActiveAt: client.connectedAt,
      touch() {
        connection.lastActiveAt = new Date();
        idle.refresh();
      },
    };
    this.connections.add(connection);
    let before: Promise<unknown> = Promise.resolve();
    socket.on('message', (data: Buffer) => {
      if (socket.readyState !== socket.OPEN) return;
      connection.touch();
      const text = data.toString();
      const routeKey = routeOf(text, api);
      const event = {requestContext: context(routeKey, 'MESSAGE', {messageId: randomUUID()}), body: text, isBase64Encoded: false};
      before = before
        .then(() => this.#call(api, routeKey, event))
        .then((answer) => {
          if (answer === undefined)
            socket.send(JSON.stringify({message: 'Internal server error', connectionId: client.id, requestId: randomUUID()}));
        });
    });
    socket.on('error', () => {});
    socket.once('close', (code, reason) => {
      clearTimeout(age);
      clearTimeout(idle);
      this.connections.remove(client.id);
      const more = {disconnectStatusCode: code, disconnectReason: reason.toString()};
      void this.#call(api, '$disconnect', {requestContext: context('$disconnect', 'DISCONNECT', more), isBase64Encoded: false});
    });
  }

  /** Undefined where the function failed. A route that is not there is answered by nobody: accepted. */
  async #call(api: WebSocketApi, routeKey: string, event: object): Promise<RouteAnswer | undefined> {
    const name = api.routes[routeKey];
    if (name === undefined) return {statusCode: 200};
    try {
      const {payload} = await this.#invoke(name, Buffer.from(JSON.stringify(event)));
      return (JSON.parse(payload.toString()) as RouteAnswer | null) ?? {};
    } catch (error) {
      if (!(error instanceof FunctionError || error instanceof Throttled)) throw error;
      this.#note(`WebSocket ${routeKey}: ${error.message}`);
      return undefined;
    }
  }
}

/** `$request.body.action`: where the message is JSON and names a route, that one. */
function routeOf(text: string, api: WebSocketApi): string {
  try {
    const {action} = JSON.parse(text) as {action?: unknown};
    if (typeof action === 'string' && !action.startsWith('$') && api.routes[action] !== undefined) return action;
  } catch {
    // Anything else goes to the default route.
  }
  return '$default';
}

function contextOf(
  api: WebSocketApi,
  {id, connectedAt, sourceIp, userAgent}: Pick<Connection, 'id' | 'connectedAt' | 'sourceIp' | 'userAgent'>,
  routeKey: string,
  eventType: string,
  more: object,
): object {
  const now = new Date();
  return {
    routeKey,
    eventType,
    extendedRequestId: randomBytes(11).toString('base64'),
    requestTime: now.toUTCString(),
    messageDirection: 'IN',
    stage: api.stage,
    connectedAt: connectedAt.getTime(),
    requestTimeEpoch: now.getTime(),
    identity: {sourceIp, userAgent},
    requestId: randomUUID(),
    domainName: `${api.id}.execute-api.${api.region}.amazonaws.com`,
    connectionId: id,
    apiId: api.id,
    ...more,
  };
}

function connectEvent({rawHeaders}: IncomingMessage, query: string): object {
  const headers: Values = {};
  for (let at = 0; at < rawHeaders.length; at += 2) addValue(headers, rawHeaders[at]!, rawHeaders[at + 1]!);
  const parameters: Values = {};
  for (const [name, value] of new URLSearchParams(query)) addValue(parameters, name, value);
  return {
    headers: lasts(headers),
    multiValueHeaders: headers,
    ...(query !== '' && {queryStringParameters: lasts(parameters), multiValueQueryStringParameters: parameters}),
    isBase64Encoded: false,
  };
}

function refuse(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${status === 403 ? 'Forbidden' : 'Refused'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
