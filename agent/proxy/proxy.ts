/**
 * The API server again, on the node's own address, for the pods of the node: under a host and a port, with a CA that pods are given. Who asks
 * is what the request says and nothing else: the node's own credential is not even known here. Requests go to the API server only.
 */
import {once} from 'node:events';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {createServer, type Server} from 'node:https';
import type {AddressInfo, Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Credentials} from '../../shared/client/node/credentials.ts';
import {HttpConnection} from '../../shared/client/node/http-connection.ts';
import {forward, sendStatus, type UpgradeRoad} from '../../shared/client/node/relay/forward.ts';
import {relay, Upstream} from '../../shared/client/node/relay/upstream.ts';
import type {Clock} from '../../shared/clock.ts';
import {failure, internalError, StatusError} from '../../shared/errors.ts';
import type {ServerAccess} from '../api/clusterconfig.ts';
import {Bearers} from './bearers.ts';

export interface ProxyOptions {
  /** Of it only where the server is and how it is verified. */
  access: ServerAccess;
  certificate: {cert: string; key: string};
  /** By the address that a connection comes from. */
  serves(address: string): boolean;
  clock: Clock;
}

/** Above the 90 idle seconds of Go's clients, so that the connection is theirs to close. */
const keepAliveMs = 120_000;
/** Of all pods together: each takes a descriptor here and one to the server. */
const maxConnections = 4096;

export class PodProxy {
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #connection: HttpConnection;
  readonly #nobody: Upstream;
  readonly #bearers: Bearers;
  readonly #upgraded = new Set<Duplex>();

  constructor(options: ProxyOptions) {
    this.#options = options;
    const server = serverOf(options.access);
    const anonymous: Credentials = {...server, present: async () => ({})};
    this.#connection = new HttpConnection(anonymous);
    this.#nobody = new Upstream(this.#connection, anonymous);
    this.#bearers = new Bearers(server, options.clock);
    this.#server = createServer({...options.certificate, ALPNProtocols: ['http/1.1'], keepAliveTimeout: keepAliveMs});
    this.#server.requestTimeout = 0;
    this.#server.maxConnections = maxConnections;
    this.#server.on('request', (request, response) => {
      this.#serve(request, response).catch((error: unknown) => sendStatus(response, statusErrorOf(error)));
    });
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** The port that it listens on. @throws the error of listen */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen({host, port});
    await once(this.#server, 'listening');
    this.#server.on('error', () => {});
    return (this.#server.address() as AddressInfo).port;
  }

  /** For connections from now on. */
  renew(certificate: {cert: string; key: string}): void {
    this.#server.setSecureContext(certificate);
  }

  /** What goes over WebSockets now. */
  get carried(): {bearers: number; watches: number} {
    return {bearers: this.#bearers.size, watches: this.#bearers.carried};
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#upgraded) socket.destroy();
    this.#bearers.close();
    this.#nobody.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#check(request);
    const {authorization} = request.headers;
    if (request.method === 'GET' && /[?&]watch=/.test(request.url!) && isBearer(authorization)) {
      const upstream = this.#bearers.of(authorization);
      // On the API's own host a watch costs no more over HTTP.
      if (upstream && (await upstream.socket())?.elsewhere) return relay(upstream, request, response);
    }
    return forward(this.#connection, request, response);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
    const refuse = (error: unknown): void => {
      const {status} = statusErrorOf(error);
      const body = `${JSON.stringify(status)}\n`;
      socket.end(
        `HTTP/1.1 ${status.code} ${status.reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    };
    try {
      this.#check(request);
    } catch (error) {
      refuse(error);
      return;
    }
    this.#road(request.headers.authorization)
      .then((road) => road.take(request, socket as Socket, head))
      .catch(refuse);
  }

  #road(authorization: string | undefined): Promise<UpgradeRoad> {
    return ((isBearer(authorization) && this.#bearers.of(authorization)) || this.#nobody).road();
  }

  /** @throws StatusError Forbidden, BadRequest */
  #check({socket, url = ''}: IncomingMessage): void {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
    if (!this.#options.serves(address))
      throw failure(403, 'Forbidden', `this way to the API is for the pods of its node, not for ${address}`);
    // Behind the server's own path stands what the server is; beside it on the same host may stand something else.
    if (!url.startsWith('/') || dotSegment.test(url.split('?', 1)[0]!))
      throw failure(400, 'BadRequest', 'the request names no path of the API');
  }
}

const dotSegment = /(^|[/\\])(\.|%2e){1,2}([/\\]|$)/i;
const isBearer = (authorization: string | undefined): authorization is string => /^Bearer \S+$/i.test(authorization ?? '');

const statusErrorOf = (error: unknown): StatusError => (error instanceof StatusError ? error : internalError(error));

const serverOf = ({url, ca, insecure, serverName}: ServerAccess): Omit<Credentials, 'present'> => ({
  server: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
  namespace: 'default',
  ...(ca !== undefined && {ca}),
  ...(serverName !== undefined && {serverName}),
  ...(insecure && {insecure}),
});
