/**
 * The road by address: the agent's port at the node's own address, with the API server's client certificate; a pod at its own. A node's certificate
 * is not verified, as the reference does without a CA for it: nodes make theirs by themselves.
 */
import net from 'node:net';
import type {Duplex} from 'node:stream';
import tls from 'node:tls';
import {badRequest, gatewayTimeout, serviceUnavailable} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import {addressOf, isGlobalUnicast} from './address.ts';
import type {Destination, DialOptions, NodeRoads} from './roads.ts';

export interface DirectOptions {
  /** PEM of the certificate and key that say to agents who asks. */
  client?: {certificate: string; key: string};
  connectTimeoutMs?: number;
}

/** The reference gives up later; whoever waits for a node on the same network knows after this. */
const usualTimeoutMs = 10_000;
const maxSessions = 1_000;

export class DirectRoad implements NodeRoads {
  readonly #context: tls.SecureContext;
  readonly #timeoutMs: number;
  /** Of TLS, by address: the next handshake is half of one. */
  readonly #sessions = new Map<string, Buffer>();

  constructor({client, connectTimeoutMs = usualTimeoutMs}: DirectOptions = {}) {
    this.#context = tls.createSecureContext(client && {cert: client.certificate, key: client.key});
    this.#timeoutMs = connectTimeoutMs;
  }

  async dial(node: KubeObject | undefined, to: Destination, {signal, proxied}: DialOptions = {}): Promise<Duplex> {
    if (to !== 'agent') return this.#connect(to.host, to.port, signal);
    const {host, port} = node ? addressOf(node) : {port: 0};
    if (host === undefined) throw serviceUnavailable('no preferred addresses found; known addresses: []');
    if (proxied && !isGlobalUnicast(host)) throw badRequest('address not allowed');
    const socket = await this.#connect(host, port, signal);
    return this.#secure(socket, `${host}:${port}`, signal).catch((error: Error) => {
      throw serviceUnavailable(`${placeOf(host, port)}: ${error.message}`);
    });
  }

  #connect(host: string, port: number, signal: AbortSignal | undefined): Promise<net.Socket> {
    const socket = net.connect({host, port, noDelay: true, keepAlive: true});
    const where = `dial tcp ${placeOf(host, port)}`;
    return this.#ready(socket, 'connect', signal).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ETIMEDOUT' ? gatewayTimeout(`${where}: i/o timeout`) : serviceUnavailable(`${where}: ${wordsOf(error)}`);
    });
  }

  #secure(socket: net.Socket, address: string, signal: AbortSignal | undefined): Promise<Duplex> {
    const session = this.#sessions.get(address);
    const secure = tls.connect({
      socket,
      secureContext: this.#context,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      ...(session && {session}),
    });
    secure.on('session', (fresh) => {
      if (this.#sessions.size >= maxSessions) this.#sessions.clear();
      this.#sessions.set(address, fresh);
    });
    return this.#ready(secure, 'secureConnect', signal);
  }

  #ready<T extends net.Socket>(socket: T, event: string, signal: AbortSignal | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timeout = Object.assign(new Error('i/o timeout'), {code: 'ETIMEDOUT'});
      const timer = setTimeout(() => socket.destroy(timeout), this.#timeoutMs);
      const leave = (): void => void socket.destroy(new Error('the client is gone'));
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        socket.off('error', fail);
      };
      const fail = (error: Error): void => {
        done();
        socket.destroy();
        reject(error);
      };
      socket.once('error', fail);
      socket.once(event, () => {
        done();
        resolve(socket);
      });
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave, {once: true});
    });
  }
}

const placeOf = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

/** As Go puts it, which is what people search for. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ECONNRESET: 'connection reset by peer',
  ENOTFOUND: 'no such host',
};

const wordsOf = ({code, message}: NodeJS.ErrnoException): string => words[code ?? ''] ?? message;
