/**
 * exec, attach and port-forward: the runtime serves the streams itself, at an address of its own for each. The client's upgrade is handed on to
 * it as it is, and the bytes after it; where the client speaks what the runtime does not, bridge.ts translates.
 */
import type {IncomingMessage} from 'node:http';
import net from 'node:net';
import type {Duplex} from 'node:stream';
import {splice} from '../../shared/nodes/splice.ts';
import {Refusal} from './refusal.ts';

/** Headers of the hop between the client and us. */
const ownHeaders = new Set(['host', 'authorization', 'content-length', 'origin']);
const connectTimeoutMs = 10_000;
/** What is left to say when one side has ended. */
const lingerMs = 30_000;

/** Connected to the runtime's streaming server. @throws Refusal 502 */
export function connectTo(url: URL): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80)});
    const fail = (error: Error) => reject(new Refusal(502, `cannot reach the container runtime: ${error.message}`));
    socket.setTimeout(connectTimeoutMs, () => socket.destroy(new Error('no answer')));
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** Hands the upgrade on; both ends live and die together. */
export async function handOn(request: IncomingMessage, client: Duplex, head: Buffer, target: string): Promise<void> {
  const url = new URL(target);
  const runtime = await connectTo(url);
  const lines = [`${request.method} ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]!;
    if (!ownHeaders.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[index + 1]}`);
  }
  runtime.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) runtime.write(head);
  splice(client, runtime, lingerMs);
}
