/**
 * What a stream of the tunnel is connected to: the agent's own HTTP server, asked as by the API server, or a port at an address that is this node's
 * own or of a pod that runs on it. Nothing else on the network is reached through it.
 */
import net from 'node:net';
import type {Duplex} from 'node:stream';
import {splice} from '../../shared/nodes/splice.ts';

export interface ServedDestinations {
  /** One request, authorized by whoever let it through. */
  toAgent(stream: Duplex): void;
  /** Of the node itself and of its pods. */
  addresses(): Iterable<string>;
}

const connectTimeoutMs = 10_000;

export function serveDestination(stream: Duplex, to: string, {toAgent, addresses}: ServedDestinations): void {
  if (to === 'agent') toAgent(stream);
  else toAddress(stream, to, addresses);
}

function toAddress(stream: Duplex, to: string, addresses: ServedDestinations['addresses']): void {
  const target = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(to);
  const [host, port] = [target?.[1] ?? target?.[2] ?? '', Number(target?.[3])];
  const isPossible = net.isIP(host) > 0 && port > 0 && port < 65_536;
  if (!isPossible || isOnlyHere(host) || ![...addresses()].includes(host)) {
    stream.destroy(new Error(isPossible ? `${host} is no address of this node or its pods` : `no destination of a tunnel: ${to}`));
    return;
  }
  const socket = net.connect({host, port, noDelay: true, allowHalfOpen: true});
  socket.setTimeout(connectTimeoutMs, () => socket.destroy(Object.assign(new Error('i/o timeout'), {code: 'ETIMEDOUT'})));
  socket.once('connect', () => socket.setTimeout(0));
  socket.once('error', (error: NodeJS.ErrnoException) => stream.destroy(new Error(`dial tcp ${to}: ${wordsOf(error)}`)));
  splice(stream, socket);
}

/** Whatever a status says: what listens there listens for nobody else. */
const isOnlyHere = (host: string): boolean => /^(127\.|0\.|::1?$|::ffff:127\.)/i.test(host);

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ECONNRESET: 'connection reset by peer',
};

const wordsOf = ({code, message}: NodeJS.ErrnoException): string => words[code ?? ''] ?? message;
