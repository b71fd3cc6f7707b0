import {once} from 'node:events';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {WebSocket} from 'ws';
import type {Invoke} from './rest-gateway.ts';
import {WebSocketGateway} from './websocket-gateway.ts';

interface Seen {
  name: string;
  body?: string;
  requestContext: {connectionId: string; routeKey: string; eventType: string; disconnectStatusCode?: number};
}

let server: Server;
let gateway: WebSocketGateway;
let url: string;
let seen: Seen[];
let connectAnswer: object;
let clients: WebSocket[];

beforeEach(async () => {
  seen = [];
  clients = [];
  connectAnswer = {statusCode: 200};
  const invoke: Invoke = async (name, event) => {
    seen.push({name, ...JSON.parse(event.toString())});
    return {
      payload: Buffer.from(JSON.stringify(name === 'connect' ? connectAnswer : {statusCode: 200, body: 'not sent'})),
      streamed: false,
    };
  };
  const routes = {$connect: 'connect', $disconnect: 'disconnect', $default: 'message', ping: 'ping'};
  gateway = new WebSocketGateway(
    () => ({id: 'w1', stage: 'k8s', region: 'us-east-1', routes}),
    invoke,
    (line) => expect.unreachable(line),
  );
  server = createServer();
  server.on('upgrade', (request, socket, head) => gateway.upgrade(request, socket, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/k8s`;
});

afterEach(() => {
  for (const client of clients) client.terminate();
  gateway.close();
  server.close();
});

function open(protocols: string[] = []): WebSocket {
  const client = new WebSocket(url, protocols);
  // A refusal is an error as well.
  client.on('error', () => {});
  clients.push(client);
  return client;
}

async function manage(method: string, id: string, body = ''): Promise<number> {
  let status = 0;
  const response = {
    writeHead(code: number) {
      status = code;
      return response;
    },
    end: () => response,
  } as unknown as ServerResponse;
  gateway.connections.manage({method, url: `/k8s/@connections/${encodeURIComponent(id)}`} as IncomingMessage, Buffer.from(body), response);
  return status;
}

test('$connect decides, and names the subprotocol', async () => {
  connectAnswer = {statusCode: 200, headers: {'Sec-WebSocket-Protocol': 'v1.watch'}};
  const client = open(['v0.watch', 'v1.watch']);
  await once(client, 'open');
  expect(client.protocol).toBe('v1.watch');
});

test('who is refused gets the status of $connect', async () => {
  connectAnswer = {statusCode: 401};
  const [, response] = await once(open(), 'unexpected-response');
  expect(response.statusCode).toBe(401);
});

test('messages go to their route, in order; what the function returns is not sent', async () => {
  const client = open();
  await once(client, 'open');
  const received: string[] = [];
  client.on('message', (data) => received.push(String(data)));
  for (const message of ['{"action":"ping"}', 'plain', '{"action":"unknown"}']) client.send(message);
  client.close(1000);
  await once(client, 'close');
  await expect.poll(() => seen.length, {interval: 1}).toBe(5);
  expect(seen.map(({name}) => name)).toEqual(expect.arrayContaining(['connect', 'ping', 'message', 'message', 'disconnect']));
  expect(seen.filter(({body}) => body).map(({body}) => body)).toEqual(['{"action":"ping"}', 'plain', '{"action":"unknown"}']);
  expect(seen.find(({name}) => name === 'disconnect')!.requestContext).toMatchObject({disconnectStatusCode: 1000});
  expect(received).toEqual([]);
});

test('a post reaches the connection, whole; one that is gone is Gone', async () => {
  const client = open();
  await once(client, 'open');
  const {connectionId} = seen[0]!.requestContext;
  const text = 'ä'.repeat(40_000);
  const message = once(client, 'message');
  expect(await manage('POST', connectionId, text)).toBe(200);
  expect(String((await message)[0])).toBe(text);
  expect(await manage('POST', connectionId, 'x'.repeat(128 * 1024 + 1))).toBe(413);
  expect(await manage('GET', connectionId)).toBe(200);
  expect(await manage('DELETE', connectionId)).toBe(204);
  await once(client, 'close');
  await expect.poll(() => manage('POST', connectionId), {interval: 1}).toBe(410);
});

test('a frame over 32 KB closes the connection, a message in smaller frames does not', async () => {
  const client = open();
  await once(client, 'open');
  client.send('x'.repeat(20_000), {fin: false});
  client.send('y'.repeat(20_000), {fin: true});
  await expect.poll(() => seen.at(-1)!.body?.length, {interval: 1}).toBe(40_000);
  client.send('x'.repeat(32 * 1024 + 1));
  expect((await once(client, 'close'))[0]).toBe(1009);
});
