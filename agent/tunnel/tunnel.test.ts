import {once} from 'node:events';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {type WebSocket, WebSocketServer} from 'ws';
import {ManualClock} from '../../shared/clock.ts';
import {encodeBinary} from '../../shared/nodes/tunnel/binary.ts';
import {tunnelProtocol} from '../../shared/nodes/tunnel/frames.ts';
import type {TunnelStream} from '../../shared/nodes/tunnel/stream.ts';
import {NodeTunnel} from './tunnel.ts';

class CountingClock extends ManualClock {
  waiting = 0;

  override after(ms: number, callback: () => void): () => void {
    this.waiting++;
    let isOver = false;
    const over = (): void => {
      if (!isOver) this.waiting--;
      isOver = true;
    };
    const cancel = super.after(ms, () => {
      over();
      callback();
    });
    return () => {
      over();
      cancel();
    };
  }
}

/** A server that says what a test tells it. */
let server: Server;
let sockets: WebSocketServer;
let offers: boolean;
let refuses: number | undefined;
let asked: number;
let connected: WebSocket[];
let heard: string[];
let clock: CountingClock;
let tunnel: NodeTunnel;
let served: [to: string, stream: TunnelStream][];
let lives: (number | undefined)[];
let warned: string[];
let token: string;

beforeEach(async () => {
  [offers, refuses, asked, connected, heard, served, lives, warned, token] = [true, undefined, 0, [], [], [], [], [], 'one'];
  clock = new CountingClock();
  sockets = new WebSocketServer({noServer: true, handleProtocols: () => tunnelProtocol});
  server = createServer((_request, response) => {
    asked++;
    response.writeHead(200, offers ? {'node-tunnel': `/node-tunnel ${tunnelProtocol}`} : {}).end('{}');
  });
  server.on('upgrade', (request, socket, head) => {
    if (refuses !== undefined) return void socket.end(`HTTP/1.1 ${refuses} No\r\nContent-Length: 0\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      connected.push(webSocket);
      webSocket.on('message', (data: Buffer, isBinary: boolean) => void heard.push(isBinary ? 'bytes' : data.toString()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  tunnel = new NodeTunnel({
    credentials: {
      server: `http://127.0.0.1:${port}`,
      namespace: 'default',
      present: async (fresh) => {
        if (fresh) token = `${token}+`;
        return {authorization: `Bearer ${token}`};
      },
    },
    node: 'a',
    clock,
    random: () => 1,
    serve: (stream, to) => void served.push([to, stream]),
    lives: (seconds) => void lives.push(seconds),
    log: {debug() {}, info() {}, warn: (text) => void warned.push(text)},
  });
});
afterEach(() => {
  tunnel.stop();
  for (const webSocket of connected) webSocket.terminate();
  server.closeAllConnections();
  server.close();
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

async function welcome(more: object = {}, index = connected.length): Promise<WebSocket> {
  await until(() => connected.length > index);
  const webSocket = connected[index]!;
  await until(() => heard.some((text) => text.includes('hello')));
  heard.length = 0;
  webSocket.send(JSON.stringify({action: 'welcome', form: 'binary', pingSeconds: 20, renewSeconds: 100, reconnectSeconds: 1_000, ...more}));
  webSocket.send(encodeBinary({action: 'open', stream: '1', to: 'agent'}));
  return webSocket;
}

test('says which node it is and who, and serves what is opened', async () => {
  tunnel.start();
  await until(() => heard.length > 0);
  expect(JSON.parse(heard[0]!)).toEqual({action: 'hello', node: 'a', token: 'one'});
  await welcome({}, 0);
  await until(() => served.length === 1);
  expect(served[0]![0]).toBe('agent');
  served[0]![1].end('answer');
  await until(() => heard.includes('bytes'));
});

test('speaks text where the server does', async () => {
  tunnel.start();
  const webSocket = await welcome({form: 'text', leaseSeconds: 3_600}, 0);
  webSocket.send(JSON.stringify({action: 'open', stream: 'x-1', to: '10.1.0.7:80'}));
  await until(() => served.length === 2);
  served[1]![1].write('answer');
  await until(() => heard.some((text) => text.startsWith('{"action":"data","stream":"x-1","at":0}\n')));
  expect(lives).toEqual([3_600]);
  webSocket.terminate();
  await until(() => lives.length === 2);
  expect(lives[1]).toBeUndefined();
});

test('pings, says hello again in time with its newest token, and gives up a server that is silent', async () => {
  tunnel.start();
  const webSocket = await welcome({}, 0);
  await until(() => served.length === 1);
  token = 'two';
  for (let ping = 1; ping <= 4; ping++) {
    clock.advance(20_000);
    await until(() => heard.filter((text) => text.includes('ping')).length === ping);
    webSocket.send('{"action":"pong"}');
    // What comes behind it has been heard after it.
    webSocket.send(encodeBinary({action: 'open', stream: String(ping + 1), to: 'agent'}));
    await until(() => served.length === ping + 1);
  }
  clock.advance(10_000);
  await until(() => heard.some((text) => text.includes('"token":"two"')));
  const closed = once(webSocket, 'close');
  clock.advance(60_000);
  await closed;
});

test('dials again when it breaks, at once and then ever more rarely, and its streams break with it', async () => {
  tunnel.start();
  const webSocket = await welcome({}, 0);
  await until(() => served.length === 1);
  const broke = new Promise((resolve) => served[0]![1].once('close', resolve));
  webSocket.terminate();
  await broke;
  refuses = 503;
  for (const ms of [200, 400, 800]) {
    const [before, since] = [asked, clock.now()];
    await until(() => {
      clock.advance(10);
      return asked > before;
    });
    expect(clock.now() - since).toBeGreaterThanOrEqual(ms);
  }
  expect(new Set(warned).size).toBe(warned.length);
});

test('shows itself anew when it was refused', async () => {
  refuses = 401;
  tunnel.start();
  await until(() => token === 'one+');
});

test('asks now and then where no tunnel is to be had', async () => {
  offers = false;
  tunnel.start();
  await until(() => asked === 1 && clock.waiting > 0);
  clock.advance(299_999);
  expect(asked).toBe(1);
  offers = true;
  clock.advance(1);
  await welcome({}, 0);
  await until(() => served.length === 1);
});

test('is replaced before it is too old, and keeps its streams until they end', async () => {
  tunnel.start();
  const former = await welcome({pingSeconds: 10_000, renewSeconds: 10_000}, 0);
  await until(() => served.length === 1);
  clock.advance(950_000);
  await welcome({pingSeconds: 10_000, renewSeconds: 10_000}, 1);
  await until(() => served.length === 2);
  expect(former.readyState).toBe(former.OPEN);
  served[0]![1].destroy();
  await once(former, 'close');
  expect(connected[1]!.readyState).toBe(former.OPEN);
});
