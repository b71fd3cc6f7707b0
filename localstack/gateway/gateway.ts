/**
 * The HTTPS server in front of the API: one port, HTTP/2 and HTTP/1.1 by ALPN, client certificates asked for but not demanded.
 * Only transport lives here; every answer with a meaning comes from the API.
 */
import {createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream} from 'node:http2';
import {createServer as createHttpsServer} from 'node:https';
import type {AddressInfo, Socket} from 'node:net';
import type {TLSSocket} from 'node:tls';
import type {Log} from '../../shared/api.ts';
import {maxHeaderBytes} from '../../shared/limits.ts';
import type {TunnelHost} from '../../shared/nodes/tunnel/host.ts';
import type {Desk, ServedApi} from './answer.ts';
import {BodyBudget} from './body.ts';
import {brokenRequest} from './broken.ts';
import {http1} from './http1.ts';
import {Http2Desk} from './http2.ts';
import {
  idleMs,
  maxConcurrentStreams,
  maxHeaderFields,
  type Patience,
  sessionMemoryMiB,
  streamWindowBytes,
  tcpKeepAliveMs,
  usualPatience,
} from './transport-limits.ts';
import {Upgrades} from './upgrade.ts';

export interface GatewayOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** PEM: key and chain of the server, and the CA that client certificates are verified with. */
  tls: {key: string; certificate: string; clientCa?: string};
  log?: Log;
  /** Where agents' tunnels are held; without it none is accepted. */
  tunnels?(): Promise<TunnelHost>;
  /** Every request leaves a line in the log. */
  trace?: boolean;
  /** How long slow clients are waited for; for tests, which are not as patient. */
  patience?: Partial<Patience>;
}

export interface Gateway {
  readonly address: string;
  readonly port: number;
  readonly inFlight: number;
  /** Answers with this API from now on. Requests that came before have waited for it. */
  serve(api: ServedApi): void;
  /** Stops listening, lets requests under way finish for at most `graceMs`, then hangs up on the rest. */
  close(graceMs: number): Promise<void>;
}

/** AES-128 first: a third cheaper than AES-256 on every byte, and nothing is known against it. */
const ciphers =
  'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:' +
  'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:' +
  'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305';

/** @throws the error of listen (EADDRINUSE, EACCES, EADDRNOTAVAIL), and of TLS for a key or certificate that it cannot read. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  let opened!: (api: ServedApi) => void;
  const opening = new Promise<ServedApi>((resolve) => {
    opened = resolve;
  });
  const waiting: ServedApi = {handle: async (request) => (await opening).handle(request)};
  const desk: Desk = {api: waiting, log: options.log, closing: false, inFlight: 0, bodies: new BodyBudget(), trace: options.trace ?? false};

  const patience: Patience = {...usualPatience, ...options.patience};
  const second = createHttp2Server({
    settings: {maxConcurrentStreams, initialWindowSize: streamWindowBytes, maxHeaderListSize: maxHeaderBytes, enablePush: false},
    maxSessionMemory: sessionMemoryMiB,
    maxHeaderListPairs: maxHeaderFields,
  });
  const sessions = new Http2Desk(desk, patience);
  second.on('session', (session: ServerHttp2Session) => sessions.session(session));
  second.on('stream', (stream: ServerHttp2Stream, headers) => sessions.stream(stream, headers));

  const server = createHttpsServer(
    {
      key: options.tls.key,
      cert: options.tls.certificate,
      ...(options.tls.clientCa !== undefined && {ca: options.tls.clientCa, requestCert: true}),
      rejectUnauthorized: false,
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      ciphers,
      honorCipherOrder: true,
      handshakeTimeout: patience.handshakeMs,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      connectionsCheckingInterval: patience.checkMs,
      keepAliveTimeout: idleMs,
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveMs,
      noDelay: true,
    },
    http1(desk),
  );
  server.maxHeadersCount = maxHeaderFields;
  server.on('clientError', brokenRequest(desk));
  // Nothing can be said to a client with which TLS has not come about: words to it would wait for a handshake that never is.
  server.on('tlsClientError', (_error, socket: TLSSocket) => socket.destroy());

  const upgrades = new Upgrades(opening, desk, options.tunnels);
  // One listener, two protocols: Node's own HTTP/1 takes what ALPN does not give to HTTP/2.
  const [first] = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('upgrade', (message, socket, head) => upgrades.take(message, socket as TLSSocket, head, () => first!.call(server, socket)));
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') second.emit('connection', socket);
    else first!.call(server, socket);
  });

  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const sweeper = setInterval(() => sessions.sweep(Date.now()), patience.checkMs);
  sweeper.unref();

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({host: options.host, port: options.port, backlog: 1024}, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => options.log?.error({err: error}, 'listener failed'));
  const bound = server.address() as AddressInfo;

  return {
    address: bound.address,
    port: bound.port,
    get inFlight() {
      return desk.inFlight;
    },
    serve(api) {
      desk.api = api;
      opened(api);
    },
    async close(graceMs) {
      desk.closing = true;
      upgrades.drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sessions.drain();
      server.closeIdleConnections();
      // Connections that are open but ask for nothing (fresh ones, HTTP/2 ones whose client lingers) are not waited for.
      const until = Date.now() + graceMs;
      const hangUp = setInterval(() => {
        if (desk.inFlight > 0 && Date.now() < until) return;
        for (const socket of sockets) socket.destroy();
      }, 10);
      await closed;
      clearInterval(hangUp);
      clearInterval(sweeper);
    },
  };
}
