import type {IncomingMessage} from 'node:http';
import {type AddressInfo, connect, createServer, type Server, type Socket} from 'node:net';
import {afterEach, describe, expect, test} from 'vitest';
import type {Credentials} from '../credentials.ts';
import {DirectRoad} from './forward.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer({allowHalfOpen: true}, serve);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A client on the road to a server that answers this; what each of them hears. */
async function road(answer: string, head = '') {
  const heard = {client: '', server: ''};
  const hear = (who: 'client' | 'server', socket: Socket): Socket =>
    socket.on('data', (bytes) => {
      heard[who] += bytes;
    });
  const far = await listen((socket) => {
    hear('server', socket).once('data', () => socket.write(answer));
    socket.on('end', () => socket.end());
  });
  const credentials = {
    server: `http://127.0.0.1:${far}/base`,
    present: async () => ({authorization: 'Bearer t'}),
  } as unknown as Credentials;
  const request = {method: 'POST', url: '/exec', headers: {}, rawHeaders: ['Upgrade', 'SPDY/3.1']} as unknown as IncomingMessage;
  const near = await listen((socket) => void new DirectRoad(credentials).take(request, socket, Buffer.from(head)));
  const client = hear('client', connect({host: '127.0.0.1', port: near}));
  return {client, heard, closed: new Promise((resolve) => client.once('close', resolve))};
}

describe('the road of an upgrade to the server', () => {
  test('carries bytes both ways once that has switched, early ones included', async () => {
    const {client, heard, closed} = await road('HTTP/1.1 101 Switching Protocols\r\n\r\nhello', 'early ');
    await expect.poll(() => heard.client).toMatch(/hello$/);
    client.end('and later');
    await closed;
    expect(heard.server).toMatch(/^POST \/base\/exec HTTP\/1\.1\r\n[\s\S]*Authorization: Bearer t\r\n\r\nearly and later$/);
  });

  test('carries nothing more to one that has not: it would be another request', async () => {
    const {client, heard, closed} = await road('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n', 'GET /early HTTP/1.1\r\n\r\n');
    await expect.poll(() => heard.client).toMatch(/^HTTP\/1\.1 404/);
    client.end('GET /other HTTP/1.1\r\n\r\n');
    await closed;
    expect(heard.server).toMatch(/SPDY\/3\.1\r\nAuthorization: Bearer t\r\n\r\n$/);
  });
});
