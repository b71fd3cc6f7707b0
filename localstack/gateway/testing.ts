/** For the tests of this room: an API that answers what a test tells it, behind a real gateway with real certificates. */
import {connect as connectHttp2} from 'node:http2';
import {type Agent, request as httpsRequest, type RequestOptions} from 'node:https';
import {type AddressInfo, connect, createServer, type Socket} from 'node:net';
import type {ApiRequest, ApiResponse} from '../../shared/http/messages.ts';
import {loadOrCreatePki, type Pki} from '../certificates.ts';
import {type Gateway, openGateway} from './gateway.ts';

export type Handle = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

let pki: Promise<Pki> | undefined;
export const testPki = (): Promise<Pki> => {
  pki ??= loadOrCreatePki({names: ['localhost', '127.0.0.1']});
  return pki;
};

export async function withGateway(handle: Handle, test: (gateway: Gateway, pki: Pki) => Promise<void>): Promise<void> {
  const certificates = await testPki();
  const gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    tls: {key: certificates.serving.key, certificate: certificates.serving.certificate, clientCa: certificates.ca.certificate},
  });
  gateway.serve({handle: async (request) => handle(request)});
  try {
    await test(gateway, certificates);
  } finally {
    await gateway.close(0);
  }
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export interface Ask extends RequestOptions {
  body?: string | Uint8Array;
  agent?: Agent;
}

export async function overHttp1(gateway: Gateway, path: string, ask: Ask = {}): Promise<Answer> {
  const {ca} = await testPki();
  const {body, ...options} = ask;
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {host: '127.0.0.1', port: gateway.port, path, ca: ca.certificate, agent: false, ...options},
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve({status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks)}));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

export async function overHttp2(
  gateway: Gateway,
  path: string,
  ask: {method?: string; headers?: object; body?: string | Uint8Array} = {},
): Promise<Answer> {
  const {ca} = await testPki();
  const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {ca: ca.certificate});
  try {
    return await new Promise<Answer>((resolve, reject) => {
      session.on('error', reject);
      const stream = session.request({':path': path, ':method': ask.method ?? 'GET', ...ask.headers}, {endStream: ask.body === undefined});
      const chunks: Buffer[] = [];
      let headers: Record<string, unknown> = {};
      stream.on('response', (received) => {
        headers = received;
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () =>
        resolve({status: Number(headers[':status']), headers: headers as Answer['headers'], body: Buffer.concat(chunks)}),
      );
      if (ask.body !== undefined) stream.end(ask.body);
    });
  } finally {
    session.close();
  }
}

/** Resolves when `condition` holds; fails with the test's own time limit otherwise. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Between a client and a server on a port of this machine: passes bytes on, and hangs up on everybody when told to. */
export async function breakingProxy(port: () => number) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((near) => {
    connections++;
    const far = connect(port(), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    breakAll() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      this.breakAll();
      server.close();
    },
  };
}
