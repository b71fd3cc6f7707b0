/**
 * The plain API on localhost, in front of any cluster. HTTP watches of unmodified programs are carried over one WebSocket where the server
 * offers it (docs/watch-protocol.md); everything else passes through.
 */
import {createServer} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import type {Credentials} from '../../shared/client/node/credentials.ts';
import {HttpConnection} from '../../shared/client/node/http-connection.ts';
import {forward, sendStatus} from '../../shared/client/node/relay/forward.ts';
import {relay, Upstream} from '../../shared/client/node/relay/upstream.ts';
import {failure} from '../../shared/errors.ts';
import {statusOf} from '../../shared/http/status.ts';
import {refusal} from './guard.ts';

export interface ProxyOptions {
  credentials: Credentials;
  host: string;
  /** 0 takes a free one. */
  port: number;
}

export interface LocalProxy {
  readonly url: string;
  /** How watches go; known from the first one on, or after `look`. */
  look(): Promise<'WebSocket' | 'HTTP'>;
  /** Watches on the WebSocket now. */
  readonly carried: number;
  close(): Promise<void>;
}

/** @throws the error of listen */
export async function startProxy({credentials, host, port}: ProxyOptions): Promise<LocalProxy> {
  const connection = new HttpConnection(credentials);
  const upstream = new Upstream(connection, credentials);
  const server = createServer((request, response) => {
    const why = refusal(request.headers, host);
    if (why !== undefined) return sendStatus(response, failure(403, 'Forbidden', why));
    // Somebody else's credential is theirs, and so is the watch.
    if (request.headers.authorization !== undefined) void forward(upstream.connection, request, response);
    else void relay(upstream, request, response).catch((error: unknown) => sendStatus(response, statusOf(error)));
  });
  server.requestTimeout = 0;
  server.on('upgrade', (request, socket, head) => {
    const why = refusal(request.headers, host);
    // Until somebody else listens.
    socket.on('error', () => socket.destroy());
    if (why !== undefined) socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else
      upstream
        .road()
        .then((road) => road.take(request, socket as Socket, head))
        .catch(() => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({host, port}, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`,
    look: async () => ((await upstream.socket()) ? 'WebSocket' : 'HTTP'),
    get carried() {
      return upstream.carried;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      upstream.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
