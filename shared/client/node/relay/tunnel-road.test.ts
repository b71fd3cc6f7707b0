/** An upgrade over a WebSocket, as a client of the proxy sees it; the server at the other end says what this test lets it. */
import {once} from 'node:events';
import {createServer, type Server} from 'node:http';
import {type AddressInfo, connect as connectTcp, type Socket} from 'node:net';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {type WebSocket, WebSocketServer} from 'ws';
import {systemClock} from '../../../clock.ts';
import {type StreamFrame, tunnelProtocol} from '../../../nodes/tunnel/frames.ts';
import {Multiplexer} from '../../../nodes/tunnel/multiplexer.ts';
import {decodeText} from '../../../nodes/tunnel/text.ts';
import {messageCarrier} from '../../../nodes/tunnel/web-socket.ts';
import {TunnelRoad} from './tunnel-road.ts';

let upstream: WebSocketServer;
let proxy: Server;
// biome-ignore lint/suspicious/noExplicitAny: whatever was said
let heard: any[];
let answerDial: (socket: WebSocket) => void;
const streamId = 'a-stream';
const headLength = 77;

beforeEach(async () => {
  heard = [];
  upstream = new WebSocketServer({port: 0, host: '127.0.0.1', handleProtocols: () => tunnelProtocol});
  upstream.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const [line] = data.toString().split('\n');
      const message = JSON.parse(line!);
      heard.push(message);
      if (message.action === 'hello') socket.send(JSON.stringify({action: 'welcome', form: 'text', pingSeconds: 100}));
      if (message.action === 'dial') answerDial(socket);
    });
  });
  const credentials = {server: 'http://127.0.0.1', namespace: 'default', present: async () => ({authorization: 'Bearer secret'})};
  await once(upstream, 'listening');
  const {port} = upstream.address() as AddressInfo;
  proxy = createServer().on('upgrade', (request, socket, head) => {
    void new TunnelRoad(`ws://127.0.0.1:${port}/prod`, credentials, systemClock).take(request, socket as Socket, head);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  upstream.close();
  for (const socket of upstream.clients) socket.terminate();
  proxy.close();
  proxy.closeAllConnections();
});

function client(): {socket: Socket; text: () => string; closed: () => boolean} {
  const socket = connectTcp((proxy.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  let closed = false;
  socket.on('data', (piece) => {
    text += piece;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  socket.write(
    'POST /api/v1/namespaces/a/pods/b/exec?command=ls HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream: one\r\nX-Stream: two\r\n\r\nearly',
  );
  return {socket, text: () => text, closed: () => closed};
}
const until = (condition: () => boolean) => expect.poll(condition, {timeout: 10_000, interval: 5}).toBe(true);

/** The node's end. */
function echo(socket: WebSocket): Multiplexer {
  const mux = new Multiplexer({form: 'text', carrier: messageCarrier(socket), clock: systemClock});
  socket.on('message', (data: Buffer) => {
    const text = data.toString();
    if (/"(data|end|credit|reset)"/.test(text.split('\n')[0]!)) mux.receive(decodeText(text) as StreamFrame);
  });
  return mux;
}

test('what the server let through is carried both ways, from behind the head that it wrote', async () => {
  answerDial = (socket) => {
    // As the node counts it: the head has come already, so here its bytes count as received.
    const from: number[] = [];
    socket.on('message', (data: Buffer) => {
      const [line, body] = data.toString().split('\n');
      const {action, at} = JSON.parse(line!);
      if (action !== 'data') return;
      from.push(at);
      const answer = `HTTP/1.1 101 Switching Protocols\r\n\r\n${Buffer.from(body!, 'base64')} from ${from}`;
      socket.send(`${JSON.stringify({action: 'data', stream: streamId, at: 0})}\n${Buffer.from(answer).toString('base64')}`);
    });
    socket.send(JSON.stringify({action: 'dialled', id: '1', stream: streamId, at: headLength}));
  };
  const {text, socket} = client();
  await until(() => text().endsWith(`early from ${headLength}`));
  expect(text()).toMatch(/^HTTP\/1\.1 101 /);
  expect(heard.slice(0, 2)).toEqual([
    {action: 'hello', token: 'secret'},
    {
      action: 'dial',
      id: '1',
      method: 'POST',
      target: '/api/v1/namespaces/a/pods/b/exec?command=ls',
      headers: {connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream': 'one, two'},
    },
  ]);
  socket.resetAndDestroy();
  await until(() => heard.at(-1).action === 'reset');
});

test('a megabyte comes back whole, and the end of one side is told to the other', async () => {
  answerDial = (socket) => {
    const mux = echo(socket);
    const stream = mux.adopt(streamId, 0);
    stream.pipe(stream);
    socket.send(JSON.stringify({action: 'dialled', id: '1', stream: streamId, at: 0}));
  };
  const {socket, text, closed} = client();
  socket.end('x'.repeat(1_000_000));
  await until(closed);
  expect(text()).toBe(`early${'x'.repeat(1_000_000)}`);
});

test('a refusal is the server’s own answer', async () => {
  const body = JSON.stringify({kind: 'Status', reason: 'Forbidden'});
  answerDial = (socket) =>
    socket.send(
      JSON.stringify({action: 'refused', id: '1', status: 403, headers: {'content-type': 'application/json', warning: ['a', 'b']}, body}),
    );
  const {text, closed} = client();
  await until(closed);
  expect(text()).toMatch(/^HTTP\/1\.1 403 /);
  expect(text()).toContain('warning: a\r\nwarning: b\r\n');
  expect(text().endsWith(`\r\n\r\n${body}`)).toBe(true);
});

test('a server that says goodbye, or is not there, is a 503', async () => {
  answerDial = (socket) => socket.send(JSON.stringify({action: 'bye', code: 4401, reason: 'the credential has expired'}));
  const first = client();
  await until(first.closed);
  expect(first.text()).toMatch(/^HTTP\/1\.1 503 .*the credential has expired/s);
  upstream.close();
  for (const socket of upstream.clients) socket.terminate();
  const second = client();
  await until(second.closed);
  expect(second.text()).toMatch(/^HTTP\/1\.1 503 .*no way to the node/s);
});

test('a reset ends the client’s connection', async () => {
  answerDial = (socket) => {
    socket.send(JSON.stringify({action: 'dialled', id: '1', stream: streamId, at: headLength}));
    socket.send(JSON.stringify({action: 'reset', stream: streamId, reason: 'the other end has gone'}));
  };
  const {closed} = client();
  await until(closed);
});
