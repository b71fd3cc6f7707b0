/** The bridge between a WebSocket client and a container runtime that speaks SPDY; the runtime here does what it is told to. */
import {once} from 'node:events';
import http from 'node:http';
import net from 'node:net';
import type {Duplex} from 'node:stream';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {WebSocket} from 'ws';
import {bridgeChannels, bridgeTunnel, channelsV5, type RemoteStreams, tunnelled} from './bridge.ts';
import type {Refusal} from './refusal.ts';
import {control, data, type Frame, fin, number32, readFrames} from './spdy-testing.ts';
import {handOn} from './streams.ts';

const success = '{"metadata":{},"status":"Success"}';
const everything: RemoteStreams = {stdin: true, stdout: true, stderr: true, tty: false};

describe('a bridge to the runtime', () => {
  let runtime: net.Server;
  let agent: http.Server;
  /** Connections that the runtime got, and what came on the first. */
  let connections: net.Socket[];
  let head: string;
  let frames: Frame[];
  let answer: string;
  let target: string;
  let streams: RemoteStreams;
  let refusals: Refusal[];
  let bridged: Promise<void>[];

  beforeEach(async () => {
    [connections, head, frames, refusals, bridged] = [[], '', [], [], []];
    answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
    streams = everything;
    runtime = net.createServer((socket) => {
      connections.push(socket);
      socket.on('error', () => {});
      socket.once('data', (bytes: Buffer) => {
        head = bytes.toString();
        readFrames(socket, (frame) => frames.push(frame));
        if (answer) socket.write(answer);
      });
    });
    runtime.listen(0, '127.0.0.1');
    await once(runtime, 'listening');
    target = `http://127.0.0.1:${(runtime.address() as net.AddressInfo).port}/exec/token?x=1`;
    agent = http.createServer();
    agent.on('upgrade', (request, socket: Duplex, rest: Buffer) => {
      socket.on('error', () => {});
      const offered = request.headers['sec-websocket-protocol'] ?? '';
      const way =
        offered === channelsV5
          ? bridgeChannels(request, socket, rest, target, streams)
          : offered === tunnelled
            ? bridgeTunnel(request, socket, rest, target)
            : handOn(request, socket, rest, target);
      bridged.push(
        way.catch((error: Refusal) => {
          refusals.push(error);
          socket.end(`HTTP/1.1 ${error.status} no\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        }),
      );
    });
    agent.listen(0, '127.0.0.1');
    await once(agent, 'listening');
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.terminate();
    for (const socket of connections) socket.destroy();
    agent.closeAllConnections();
    agent.close();
    runtime.close();
    await Promise.all(bridged);
  });

  const port = () => (agent.address() as net.AddressInfo).port;
  const clients: WebSocket[] = [];

  /** A client, and what it hears. */
  function connect(protocol: string) {
    const client = new WebSocket(`ws://127.0.0.1:${port()}/`, protocol);
    clients.push(client);
    const heard: [channel: number, text: string][] = [];
    const end: {code?: number; error?: string} = {};
    client.on('message', (bytes: Buffer) => heard.push([bytes[0]!, bytes.subarray(1).toString()]));
    client.on('close', (code) => {
      end.code = code;
    });
    client.on('error', (error) => {
      end.error = error.message;
    });
    const send = (channel: number, payload: string | Buffer) => client.send(Buffer.concat([Buffer.from([channel]), Buffer.from(payload)]));
    return {client, heard, end, send};
  }
  /** As soon as the bridge has opened so many streams there. */
  const streamsOf = async (count: number): Promise<Record<string, number>> => {
    await expect.poll(() => frames.filter(({headers}) => headers).length).toBe(count);
    return Object.fromEntries(frames.flatMap(({headers, stream}) => (headers ? [[headers.streamtype, stream]] : [])));
  };

  test('carries input, its end, both outputs, and the verdict last', async () => {
    const {heard, end, send, client} = connect(channelsV5);
    await once(client, 'open');
    const {stdin, stdout, stderr, error} = await streamsOf(4);
    expect(head).toMatch(/^POST \/exec\/token\?x=1 HTTP\/1\.1\r\n/);
    expect(head).toContain('X-Stream-Protocol-Version: v4.channel.k8s.io');
    send(0, 'in');
    send(255, Buffer.from([0]));
    await expect
      .poll(() =>
        frames.filter(({stream, kind}) => stream === stdin && kind === undefined).map(({body, flags}) => [body.toString(), flags]),
      )
      .toEqual([
        ['in', 0],
        ['', fin],
      ]);
    const [socket] = connections;
    socket!.write(
      Buffer.concat([data(error!, success, fin), data(stdout!, 'out'), data(stderr!, 'err', fin), data(stdout!, ' more', fin)]),
    );
    await expect.poll(() => end.code).toBe(1000);
    expect(heard).toEqual([
      [1, 'out'],
      [2, 'err'],
      [1, ' more'],
      [3, success],
    ]);
  });

  test('a terminal has one output, and its size is told', async () => {
    streams = {stdin: true, stdout: true, stderr: true, tty: true};
    const {send, client} = connect(channelsV5);
    await once(client, 'open');
    const opened = await streamsOf(4);
    expect(Object.keys(opened).sort()).toEqual(['error', 'resize', 'stdin', 'stdout']);
    send(4, '{"Width":80,"Height":24}');
    await expect.poll(() => frames.at(-1)?.body.toString()).toBe('{"Width":80,"Height":24}');
    expect(frames.at(-1)?.stream).toBe(opened.resize);
  });

  test('a runtime that breaks off before its verdict is no success', async () => {
    const {heard, end, client} = connect(channelsV5);
    await once(client, 'open');
    const {stdout} = await streamsOf(4);
    connections[0]!.write(data(stdout!, 'half'));
    await expect.poll(() => heard).toEqual([[1, 'half']]);
    connections[0]!.destroy();
    await expect.poll(() => end.code).toBe(1011);
    expect(heard).toEqual([[1, 'half']]);
  });

  test('a client that leaves ends the connection to the runtime', async () => {
    const {client} = connect(channelsV5);
    await once(client, 'open');
    await streamsOf(4);
    const gone = once(connections[0]!, 'close');
    client.terminate();
    await gone;
  });

  test('a client that says nonsense is heard by nobody', async () => {
    const {send, client} = connect(channelsV5);
    await once(client, 'open');
    const {stdin} = await streamsOf(4);
    const before = frames.length;
    client.send(Buffer.alloc(0));
    client.send('text');
    send(1, 'an output');
    send(3, 'a verdict');
    send(4, 'a size without a terminal');
    send(77, 'no channel');
    send(255, Buffer.from([1]));
    send(0, 'after all of it');
    await expect.poll(() => frames.at(-1)?.body.toString()).toBe('after all of it');
    expect(frames.slice(before).map(({stream}) => stream)).toEqual([stdin]);
  });

  test('a message longer than any that is taken ends the connection', async () => {
    const {client, end, send} = connect(channelsV5);
    await once(client, 'open');
    await streamsOf(4);
    const gone = once(connections[0]!, 'close');
    send(0, Buffer.alloc(33 * 1024 * 1024));
    await gone;
    await expect.poll(() => end.code ?? end.error).toBeDefined();
  });

  test('a runtime that reads slowly holds the client, and gets every byte', async () => {
    const {client, send} = connect(channelsV5);
    await once(client, 'open');
    const {stdin} = await streamsOf(4);
    const [socket] = connections;
    socket!.pause();
    const block = Buffer.alloc(1 << 20, 1);
    for (let index = 0; index < 32; index++) send(0, block);
    // Neither the bridge nor the kernel takes all of it.
    await expect.poll(() => client.bufferedAmount).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(client.bufferedAmount).toBeGreaterThan(8 << 20);
    socket!.resume();
    await expect
      .poll(
        () => frames.filter(({stream, kind}) => stream === stdin && kind === undefined).reduce((sum, {body}) => sum + body.length, 0),
        {},
      )
      .toBe(32 << 20);
  });

  test('a client that reads slowly holds the runtime, and gets every byte', async () => {
    const {client, heard} = connect(channelsV5);
    await once(client, 'open');
    const {stdout, error, stderr} = await streamsOf(4);
    client.pause();
    const [socket] = connections;
    const block = data(stdout!, Buffer.alloc(1 << 20, 1));
    let held = false;
    for (let index = 0; index < 32; index++) held = !socket!.write(block);
    expect(held).toBe(true);
    socket!.write(Buffer.concat([data(stderr!, '', fin), data(stdout!, '', fin), data(error!, success, fin)]));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(socket!.writableLength).toBeGreaterThan(8 << 20);
    client.resume();
    await expect.poll(() => heard.some(([channel]) => channel === 3)).toBe(true);
    expect(heard.at(-1)).toEqual([3, success]);
    expect(heard.reduce((sum, [channel, text]) => sum + (channel === 1 ? text.length : 0), 0)).toBe(32 << 20);
  });

  test.each([
    ['says no', 'HTTP/1.1 404 Not Found\r\n\r\ncontainer not found', 404, /container not found/],
    ['hangs up', '', 502, /closed the connection/],
    ['speaks something else', `SSH-2.0\n${'x'.repeat(100_000)}`, 502, /does not speak HTTP/],
  ])('a runtime that %s is a refusal', async (_, said, status, words) => {
    answer = said;
    const {end} = connect(channelsV5);
    if (!said) {
      await expect.poll(() => head).toContain('Upgrade');
      connections[0]!.destroy();
    }
    await expect.poll(() => refusals.length).toBe(1);
    expect(refusals[0]!.status).toBe(status);
    expect(refusals[0]!.message).toMatch(words);
    await expect.poll(() => String(end.error)).toContain(String(status));
    await expect.poll(() => connections.every((socket) => socket.destroyed)).toBe(true);
  });

  test('a runtime that is not there is a refusal', async () => {
    runtime.close();
    const {end} = connect(channelsV5);
    await expect.poll(() => String(end.error)).toContain('502');
    expect(refusals[0]!.message).toContain('cannot reach the container runtime');
  });

  test('a client that shakes hands wrongly, or has left meanwhile, leaves no stream with the runtime', async () => {
    const raw = net.connect(port(), '127.0.0.1');
    raw.on('error', () => {});
    raw.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ${channelsV5}\r\n\r\n`);
    await expect.poll(() => connections.length).toBe(1);
    await expect.poll(() => connections[0]!.destroyed, {timeout: 5000}).toBe(true);

    answer = '';
    const {client} = connect(channelsV5);
    await expect.poll(() => connections.length).toBe(2);
    client.terminate();
    await new Promise((resolve) => setTimeout(resolve, 50));
    connections[1]!.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    await expect.poll(() => connections[1]!.destroyed, {timeout: 5000}).toBe(true);
  });

  test('port-forward goes through untouched, both ways, until either leaves', async () => {
    // The client library refuses the protocol's name, as kubectl does not.
    const raw = net.connect(port(), '127.0.0.1');
    raw.on('error', () => {});
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    raw.write(
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: ${tunnelled}\r\n\r\n`,
    );
    let got = Buffer.alloc(0);
    raw.on('data', (bytes: Buffer) => {
      got = Buffer.concat([got, bytes]);
    });
    await expect.poll(() => got.toString()).toContain(`Sec-WebSocket-Protocol: ${tunnelled}\r\n`);
    expect(got.toString()).toMatch(/^HTTP\/1\.1 101 /);
    expect(head).toContain('X-Stream-Protocol-Version: portforward.k8s.io');
    const ping = control(6, number32(7));
    // Masked with zeros: the bytes are as they are.
    raw.write(Buffer.concat([Buffer.from([0x82, 0x80 | ping.length, 0, 0, 0, 0]), ping]));
    await expect.poll(() => frames).toMatchObject([{kind: 6, stream: 7}]);
    const long = Buffer.alloc(3 << 20, 9);
    got = Buffer.alloc(0);
    connections[0]!.write(long);
    await expect.poll(() => got.length).toBeGreaterThanOrEqual(long.length);
    connections[0]!.end();
    // A close frame with the code 1000.
    await expect.poll(() => got.subarray(-4).toString('hex')).toBe('880203e8');
    raw.destroy();
  });

  test('other protocols are handed on with the bytes after them, without what was meant for us', async () => {
    answer = '';
    const raw = net.connect(port(), '127.0.0.1');
    const upgrade =
      'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io';
    raw.write(`${upgrade}\r\n\r\nearly bytes`);
    await expect.poll(() => head).toContain('X-Stream-Protocol-Version: v4.channel.k8s.io');
    expect(head).toMatch(/^GET \/exec\/token\?x=1 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
    expect(head).not.toContain('secret');
    connections[0]!.write('HTTP/1.1 101 Yes\r\n\r\nand back');
    let got = '';
    raw.on('data', (bytes) => {
      got += bytes;
    });
    await expect.poll(() => got).toBe('HTTP/1.1 101 Yes\r\n\r\nand back');
    const gone = once(connections[0]!, 'close');
    raw.destroy();
    await gone;
  });
});
