/** What one look at a container says, by each way of looking. */
import {once} from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import {afterEach, describe, expect, test} from 'vitest';
import {grpcCheck} from './grpc.ts';
import {httpCheck} from './http.ts';
import {tcpCheck} from './tcp.ts';

const agentName = 'kube-probe/1.36';
const closes: (() => void)[] = [];
afterEach(() => {
  for (const close of closes.splice(0)) close();
});

async function listen(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closes.push(() => server.close());
  return (server.address() as net.AddressInfo).port;
}

async function serve(answer: http.RequestListener): Promise<number> {
  const server = http.createServer(answer);
  closes.push(() => server.closeAllConnections());
  return listen(server);
}

/** A port where nobody listens. */
async function deaf(): Promise<number> {
  const port = await listen(net.createServer());
  closes.pop()!();
  return port;
}

describe('a look by HTTP', () => {
  const look = (port: number, more: object = {}, timeoutMs = 5000) => httpCheck({port, ...more}, '127.0.0.1', timeoutMs, agentName);

  test.each([200, 204, 302, 304, 399])('%s is well', async (status) => {
    const port = await serve((_, response) => response.writeHead(status).end());
    expect(await look(port)).toMatchObject({result: 'success'});
  });

  test.each([400, 404, 500, 503])('%s is not, and the body stays secret', async (status) => {
    const port = await serve((_, response) => response.writeHead(status).end('a password'));
    expect(await look(port)).toEqual({result: 'failure', output: `HTTP probe failed with statuscode: ${status}`});
  });

  test('asks for the path with its query, as who it is, with the headers that it was given', async () => {
    let asked: http.IncomingMessage | undefined;
    const port = await serve((request, response) => {
      asked = request;
      response.end('fine');
    });
    const httpHeaders = [
      {name: 'X-One', value: 'a'},
      {name: 'x-one', value: 'b'},
      {name: 'Host', value: 'example.test'},
      {name: 'User-Agent', value: 'mine'},
      {name: 'Accept', value: ''},
    ];
    expect(await look(port, {path: '/healthz?deep=1', httpHeaders})).toEqual({result: 'success', output: 'fine'});
    expect(asked).toMatchObject({method: 'GET', url: '/healthz?deep=1'});
    expect(asked!.headers).toMatchObject({'x-one': 'a, b', host: 'example.test', 'user-agent': 'mine', connection: 'close'});
    expect(asked!.headers).not.toHaveProperty('accept');
    await look(port);
    expect(asked!.headers).toMatchObject({'user-agent': agentName, accept: '*/*'});
  });

  test('follows where the same host leads', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/there') return response.end('arrived');
      return response.writeHead(307, {location: '/there'}).end();
    });
    expect(await look(port, {path: '/here'})).toEqual({result: 'success', output: 'arrived'});
  });

  test('a redirect to the same host that leads to a failure is one', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/there') return response.writeHead(500).end();
      return response.writeHead(302, {location: '/there'}).end();
    });
    expect(await look(port)).toMatchObject({result: 'failure'});
  });

  test('another host is not asked: that it was named is well enough', async () => {
    const port = await serve((_, response) => response.writeHead(302, {location: 'http://elsewhere.test/'}).end('go there'));
    expect(await look(port)).toEqual({result: 'success', output: 'Probe terminated redirects, Response body: go there'});
  });

  test('who leads in circles is not well', async () => {
    let asked = 0;
    const port = await serve((_, response) => {
      asked += 1;
      response.writeHead(302, {location: `/again?${asked}`}).end();
    });
    const {result, output} = await look(port);
    expect({result, output}).toEqual({result: 'failure', output: expect.stringMatching(/^Get ".*": stopped after 10 redirects$/)});
    expect(asked).toBe(10);
  });

  test('a body without end is read so far, and let go', async () => {
    let gone = false;
    const port = await serve((_, response) => {
      response.on('close', () => {
        gone = true;
      });
      const pour = () => {
        while (response.write('x'.repeat(4096)));
        response.once('drain', pour);
      };
      pour();
    });
    const {result, output} = await look(port);
    expect(result).toBe('success');
    expect(output).toHaveLength(10 * 1024);
    await expect.poll(() => gone).toBe(true);
  });

  test('who does not answer in time is not well; nor who trickles, nor who breaks off', async () => {
    const silent = await serve(() => {});
    expect(await look(silent, {}, 100)).toMatchObject({result: 'failure', output: expect.stringContaining('context deadline exceeded')});
    const trickling = await serve((_, response) => {
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    expect(await look(trickling, {}, 200)).toMatchObject({result: 'failure'});
    const breaking = await listen(net.createServer((socket) => socket.once('data', () => socket.destroy())));
    expect(await look(breaking)).toMatchObject({result: 'failure'});
  });

  test('redirects share the time of the look', async () => {
    const port = await serve((_, response) => {
      setTimeout(() => response.writeHead(302, {location: '/'}).end(), 100);
    });
    const began = performance.now();
    expect(await look(port, {}, 250)).toMatchObject({result: 'failure', output: expect.stringContaining('deadline')});
    expect(performance.now() - began).toBeLessThan(1000);
  });

  test('who does not listen, speaks no HTTP, or is asked for nonsense is a failure with a reason', async () => {
    const port = await deaf();
    expect(await look(port)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
    const strange = await listen(net.createServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n')));
    expect(await look(strange)).toMatchObject({result: 'failure'});
    expect(await look(port, {path: 'http://'})).toMatchObject({result: 'failure'});
  });
});

describe('a look by TCP', () => {
  test('is well where somebody listens', async () => {
    const port = await listen(net.createServer((socket) => socket.destroy()));
    expect(await tcpCheck('127.0.0.1', port, 5000)).toEqual({result: 'success', output: ''});
  });

  test('is a failure where nobody does', async () => {
    const port = await deaf();
    expect(await tcpCheck('127.0.0.1', port, 5000)).toEqual({
      result: 'failure',
      output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });
});

describe('a look by gRPC', () => {
  /** The health service as it goes over the wire. */
  const health = async (status: number, code = 0): Promise<{port: number; asked: string[]}> => {
    const asked: string[] = [];
    const server = http2.createServer();
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        asked.push(`${headers[':path']} ${Buffer.concat(chunks).subarray(7).toString()}`);
        if (code !== 0) {
          stream.respond(
            {':status': 200, 'content-type': 'application/grpc', 'grpc-status': code, 'grpc-message': 'no such thing'},
            {endStream: true},
          );
          return;
        }
        stream.respond({':status': 200, 'content-type': 'application/grpc'}, {waitForTrailers: true});
        stream.on('wantTrailers', () => stream.sendTrailers({'grpc-status': '0'}));
        stream.end(Buffer.from([0, 0, 0, 0, 2, 8, status]));
      });
    });
    return {port: await listen(server), asked};
  };

  test('is well when the service says SERVING, and asks for the service by name', async () => {
    const {port, asked} = await health(1);
    expect(await grpcCheck('127.0.0.1', port, 'mine', 5000)).toEqual({result: 'success', output: 'service healthy'});
    expect(asked).toEqual(['/grpc.health.v1.Health/Check mine']);
  });

  test.each([
    [0, '"UNKNOWN"'],
    [2, '"NOT_SERVING"'],
    [3, '"SERVICE_UNKNOWN"'],
    [77, '"77"'],
  ])('%s is not well', async (status, word) => {
    const {port} = await health(status);
    expect(await grpcCheck('127.0.0.1', port, '', 5000)).toEqual({result: 'failure', output: `service unhealthy (responded with ${word})`});
  });

  test('a server without the service, none at all, and one that is silent are failures with a reason', async () => {
    const {port} = await health(0, 12);
    expect(await grpcCheck('127.0.0.1', port, '', 5000)).toMatchObject({
      result: 'failure',
      output: expect.stringContaining('does not implement'),
    });
    expect(await grpcCheck('127.0.0.1', await deaf(), '', 5000)).toMatchObject({
      result: 'failure',
      output: expect.stringContaining('failed to connect service'),
    });
    const silent = await listen(net.createServer((socket) => closes.push(() => socket.destroy())));
    expect(await grpcCheck('127.0.0.1', silent, '', 200)).toMatchObject({
      result: 'failure',
      output: expect.stringContaining('within 0.2s'),
    });
  });
});
