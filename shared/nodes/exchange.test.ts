import {createServer, type RequestListener, type Server} from 'node:http';
import {type AddressInfo, connect, type Socket} from 'node:net';
import {afterEach, describe, expect, test} from 'vitest';
import type {ApiResponse} from '../http/messages.ts';
import {type Exchanged, exchange} from './exchange.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener): Promise<Socket> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return connect((server.address() as AddressInfo).port, '127.0.0.1');
}

const ask = (more: Partial<Exchanged> = {}): Exchanged => ({method: 'GET', target: '/x?y=z', headers: {host: 'node'}, ...more});

async function textOf({body}: ApiResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('an exchange over a dialled stream', () => {
  test('carries method, target, headers and body, and brings status, headers and body back', async () => {
    const road = await serve(async (request, response) => {
      const got: Buffer[] = [];
      for await (const piece of request) got.push(piece);
      response.writeHead(418, {'x-one': '1', 'set-cookie': ['a=1', 'b=2']});
      response.end(`${request.method} ${request.url} ${request.headers.host} ${Buffer.concat(got)}`);
    });
    const answer = await exchange(road, ask({method: 'POST', body: Buffer.from('hello')}));
    expect(answer.status).toBe(418);
    expect(answer.headers).toMatchObject({'x-one': '1', 'set-cookie': ['a=1', 'b=2']});
    expect(await textOf(answer)).toBe('POST /x?y=z node hello');
    expect(road.destroyed).toBe(true);
  });

  test('hands out the body as it comes', async () => {
    let more!: (text: string) => void;
    const road = await serve((_request, response) => {
      response.write('first');
      more = (text) => response.end(text);
    });
    const {body} = await exchange(road, ask());
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    expect(String((await pieces.next()).value)).toBe('first');
    more('second');
    expect(String((await pieces.next()).value)).toBe('second');
    expect((await pieces.next()).done).toBe(true);
  });

  test('gives the stream away when the other side switches protocols, with what came behind the head', async () => {
    const road = await serve(() => {});
    server!.on('upgrade', (request, socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\nearly`);
      socket.on('data', (bytes: Buffer) => socket.write(bytes.toString().toUpperCase()));
    });
    const {status, headers, upgrade} = await exchange(road, ask({headers: {host: 'node', connection: 'Upgrade', upgrade: 'SPDY/3.1'}}));
    expect([status, headers['upgrade']]).toEqual([101, 'SPDY/3.1']);
    const pieces = upgrade![Symbol.asyncIterator]();
    expect(String((await pieces.next()).value)).toBe('early');
    upgrade!.write('shout');
    expect(String((await pieces.next()).value)).toBe('SHOUT');
  });

  test('answers plainly when the other side would not switch', async () => {
    const road = await serve(() => {});
    server!.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope'));
    const answer = await exchange(road, ask({headers: {host: 'node', connection: 'Upgrade', upgrade: 'SPDY/3.1'}}));
    expect(answer.status).toBe(404);
    expect(await textOf(answer)).toBe('nope');
  });

  test('a switch that nobody asked for is an error', async () => {
    const road = await serve((request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
    });
    await expect(exchange(road, ask())).rejects.toThrow('without being asked');
    expect(road.destroyed).toBe(true);
  });

  test('ends with its reader, who may not have begun, or be waiting for more', async () => {
    const road = await serve((_request, response) => response.write('begun'));
    const unread = (await exchange(road, ask())).body as AsyncIterable<Uint8Array>;
    await unread[Symbol.asyncIterator]().return!();
    expect(road.destroyed).toBe(true);
    const second = connect((server!.address() as AddressInfo).port, '127.0.0.1');
    const pieces = ((await exchange(second, ask())).body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await pieces.next();
    const waiting = pieces.next().catch(() => {});
    await pieces.return!().catch(() => {});
    await waiting;
    expect(second.destroyed).toBe(true);
  });

  test('ends with its client, before the answer and in the middle of it', async () => {
    const silent = new AbortController();
    const road = await serve((request, response) => {
      if (request.url === '/silent') silent.abort();
      else response.write('begun');
    });
    await expect(exchange(road, ask({target: '/silent', signal: silent.signal}))).rejects.toMatchObject({name: 'AbortError'});
    const leaving = new AbortController();
    const second = connect((server!.address() as AddressInfo).port, '127.0.0.1');
    const {body} = await exchange(second, ask({signal: leaving.signal}));
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await pieces.next();
    leaving.abort();
    expect((await pieces.next()).done).toBe(true);
    expect(second.destroyed).toBe(true);
  });

  test('a road that breaks before or in the middle of the answer is an error, not an end', async () => {
    const road = await serve((request, response) => {
      if (request.url === '/before') return void request.socket.destroy();
      response.writeHead(200, {'content-length': '100'});
      response.write('ten bytes.', () => response.destroy());
    });
    await expect(exchange(road, ask({target: '/before'}))).rejects.toThrow('socket hang up');
    const answer = await exchange(connect((server!.address() as AddressInfo).port, '127.0.0.1'), ask());
    await expect(textOf(answer)).rejects.toThrow();
  });
});
