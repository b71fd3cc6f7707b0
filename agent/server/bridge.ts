/**
 * Streams for clients that speak what the runtime's server does not: the fifth version of the channel protocol, in which the end of the input
 * can be told, and port-forward's SPDY inside of a WebSocket. Towards the runtime it is SPDY, which every runtime speaks.
 */
import type {IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {type RawData, type WebSocket, WebSocketServer} from 'ws';
import {Refusal} from './refusal.ts';
import {SpdyConnection} from './spdy.ts';
import {connectTo} from './streams.ts';

export const channelsV5 = 'v5.channel.k8s.io';
export const tunnelled = 'SPDY/3.1+portforward.k8s.io';
const remoteProtocol = 'v4.channel.k8s.io';
const channel = {stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255} as const;
/** More than this on its way to a client that is behind, and the runtime is not read. */
const highWater = 1 << 20;
const maxPayload = 32 * 1024 * 1024;
/** Of the runtime's answer to an upgrade. */
const maxHead = 64 * 1024;

const server = new WebSocketServer({noServer: true, maxPayload, perMessageDeflate: false});
/** What was agreed on with whom. The library refuses the names of some protocols, for their slash. */
const agreed = new WeakMap<IncomingMessage, string>();
server.on('headers', (headers, request) => headers.push(`Sec-WebSocket-Protocol: ${agreed.get(request)}`));

/**
 * Silent until it is resumed: what it says before anyone listens would be lost. Undefined for a client that has left or that shakes hands
 * wrongly, which has been told.
 */
function accept(request: IncomingMessage, socket: Duplex, head: Buffer, protocol: string): WebSocket | undefined {
  agreed.set(request, protocol);
  delete request.headers['sec-websocket-protocol'];
  let accepted: WebSocket | undefined;
  server.handleUpgrade(request, socket, head, (client) => {
    client.pause();
    accepted = client;
  });
  return accepted;
}

export interface RemoteStreams {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** exec and attach, version 5 to the client. */
export async function bridgeChannels(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  target: string,
  {stdin, stdout, stderr, tty}: RemoteStreams,
): Promise<void> {
  const upgraded = await upgradeToSpdy(new URL(target), remoteProtocol);
  const client = accept(request, socket, head, channelsV5);
  if (!client) return void upgraded.destroy();
  const connection = new SpdyConnection(upgraded);
  const errors = await connection.open({streamtype: 'error'});
  const input = stdin ? await connection.open({streamtype: 'stdin'}) : undefined;
  const outputs = [
    ...(stdout ? [[channel.stdout, await connection.open({streamtype: 'stdout'})] as const] : []),
    ...(stderr && !tty ? [[channel.stderr, await connection.open({streamtype: 'stderr'})] as const] : []),
  ];
  const resize = tty ? await connection.open({streamtype: 'resize'}) : undefined;

  const send = (number: number, bytes: Buffer) => {
    client.send(Buffer.concat([Buffer.from([number]), bytes]), () => client.bufferedAmount < highWater && connection.resume());
    if (client.bufferedAmount > highWater) connection.pause();
  };
  let open = outputs.length + 1;
  const verdict: Buffer[] = [];
  const ended = () => {
    open -= 1;
    if (open > 0) return;
    connection.close();
    // An empty verdict would be a success.
    if (verdict.length === 0) return client.close(1011, 'the container runtime closed the stream');
    // It comes last: a client stops reading at it.
    send(channel.error, Buffer.concat(verdict));
    client.close(1000);
  };
  for (const [number, stream] of outputs) {
    stream.on('data', (bytes) => send(number, bytes));
    once(stream, ended);
  }
  errors.on('data', (bytes) => verdict.push(bytes));
  once(errors, ended);
  client.on('message', (data) => {
    const bytes = bytesOf(data);
    const payload = bytes.subarray(1);
    if (bytes[0] === channel.stdin) {
      if (!input || input.write(payload)) return;
      client.pause();
      connection.onceDrained(() => client.resume());
    }
    if (bytes[0] === channel.resize) resize?.write(payload);
    else if (bytes[0] === channel.close && payload[0] === channel.stdin) input?.end();
  });
  client.on('close', () => connection.close());
  client.on('error', () => connection.close());
  client.resume();
}

/** port-forward as kubectl does it: its SPDY goes through untouched. */
export async function bridgeTunnel(request: IncomingMessage, socket: Duplex, head: Buffer, target: string): Promise<void> {
  const runtime = await upgradeToSpdy(new URL(target), 'portforward.k8s.io');
  const client = accept(request, socket, head, tunnelled);
  if (!client) return void runtime.destroy();
  runtime.on('data', (bytes: Buffer) => {
    client.send(bytes, () => client.bufferedAmount < highWater && runtime.resume());
    if (client.bufferedAmount > highWater) runtime.pause();
  });
  client.on('message', (data) => {
    if (runtime.write(bytesOf(data))) return;
    client.pause();
    runtime.once('drain', () => client.resume());
  });
  runtime.on('close', () => client.close(1000));
  runtime.on('error', () => client.close(1011));
  runtime.resume();
  client.resume();
  client.on('close', () => runtime.destroy());
  client.on('error', () => runtime.destroy());
}

function once(stream: {on(name: 'end' | 'close', listener: () => void): unknown}, callback: () => void): void {
  let called = false;
  const call = () => {
    if (!called) callback();
    called = true;
  };
  stream.on('end', call);
  stream.on('close', call);
}

const bytesOf = (data: RawData): Buffer => (Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data));

/** @throws Refusal with what the runtime says instead */
async function upgradeToSpdy(url: URL, protocol: string): Promise<Socket> {
  const socket = await connectTo(url);
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
    'Content-Length: 0',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const fail = (error: Error) => {
      socket.destroy();
      reject(new Refusal(502, error.message));
    };
    const closed = () => fail(new Error('the container runtime closed the connection'));
    const take = (bytes: Buffer) => {
      got = Buffer.concat([got, bytes]);
      const end = got.indexOf('\r\n\r\n');
      if (end < 0 && got.length > maxHead) return fail(new Error('the container runtime does not speak HTTP'));
      if (end < 0) return;
      socket.off('data', take);
      socket.off('error', fail);
      socket.off('close', closed);
      const status = Number(got.toString('latin1', 9, 12));
      if (status !== 101) {
        socket.destroy();
        return reject(new Refusal(status || 502, got.toString('utf8', end + 4)));
      }
      socket.pause();
      socket.unshift(got.subarray(end + 4));
      resolve(socket);
    };
    socket.on('data', take);
    socket.once('error', fail);
    socket.once('close', closed);
  });
}
