import {PassThrough} from 'node:stream';
import {type ConnectionOptions, connect, type TLSSocket} from 'node:tls';
import {describe, expect, test, vi} from 'vitest';
import type {ApiRequest, ApiResponse} from '../../shared/http/messages.ts';
import type {Gateway} from './gateway.ts';
import {overHttp1, overHttp2, testPki, until, withGateway} from './testing.ts';

const exec = '/api/v1/namespaces/default/pods/a/exec?command=ls';
const head = `POST ${exec} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`;
const switched = (upgrade: ApiResponse['upgrade']): ApiResponse => ({
  status: 101,
  headers: {connection: 'Upgrade', upgrade: 'SPDY/3.1'},
  ...(upgrade && {upgrade}),
});
const refusal: ApiResponse = {status: 404, headers: {'content-type': 'text/plain'}, body: Buffer.from('nothing here')};

async function dial(
  gateway: Gateway,
  more: ConnectionOptions & {allowHalfOpen?: boolean} = {},
): Promise<{socket: TLSSocket; says: (pattern: RegExp) => Promise<string>; ended: Promise<unknown>}> {
  const {ca} = await testPki();
  const socket = connect({host: '127.0.0.1', port: gateway.port, ca: ca.certificate, ALPNProtocols: ['http/1.1'], ...more});
  let heard = '';
  socket.on('data', (bytes: Buffer) => {
    heard += bytes;
  });
  socket.on('error', () => {});
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const says = async (pattern: RegExp): Promise<string> => {
    await until(() => pattern.test(heard));
    return heard;
  };
  return {socket, ended, says};
}

describe('an upgrade on its way to a node', () => {
  test('becomes one connection with what the API answers, early bytes included', () => {
    const backend = new PassThrough();
    let asked: ApiRequest | undefined;
    return withGateway(
      (request) => {
        asked = request;
        return switched(backend);
      },
      async (gateway) => {
        const {socket, says} = await dial(gateway);
        socket.write(`${head}early `);
        expect(await says(/early /)).toBe('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\nearly ');
        expect(asked).toMatchObject({
          method: 'POST',
          upgrade: true,
          search: 'command=ls',
          headers: {upgrade: 'SPDY/3.1', connection: 'Upgrade'},
        });
        socket.write('and more');
        await says(/early and more$/);
        expect(gateway.inFlight).toBe(1);
        socket.destroy();
        await until(() => backend.destroyed && gateway.inFlight === 0);
      },
    );
  });

  test('hands on what was said last, then ends', () => {
    const backend = new PassThrough();
    return withGateway(
      () => switched(backend),
      async (gateway) => {
        const {socket, says, ended} = await dial(gateway);
        socket.write(head);
        await says(/101/);
        let more = 0;
        socket.on('data', ({length}: Buffer) => {
          more += length;
        });
        backend.end('x'.repeat(3_000_000));
        await ended;
        expect(more).toBe(3_000_000);
      },
    );
  });

  test('that the API does not want is answered as any request, and its connection ends', () =>
    withGateway(
      () => refusal,
      async (gateway) => {
        const {socket, says, ended} = await dial(gateway);
        socket.write(head);
        expect(await says(/nothing here$/)).toMatch(/^HTTP\/1\.1 404 Not Found\r\n.*content-length: 12\r\n.*connection: close/is);
        await ended;
        await until(() => gateway.inFlight === 0);
      },
    ));

  test('that the API does not want ends, whether or not its client does', async () => {
    vi.useFakeTimers({toFake: ['setTimeout']});
    try {
      await withGateway(
        () => refusal,
        async (gateway) => {
          const {socket, says} = await dial(gateway, {allowHalfOpen: true});
          socket.write(`${head}more`);
          await says(/nothing here$/);
          await until(() => {
            vi.advanceTimersByTime(5_000);
            return gateway.inFlight === 0;
          });
          socket.destroy();
        },
      );
    } finally {
      vi.useRealTimers();
    }
  });

  test('with a body, over HTTP/2 or to another path is a plain request', () => {
    const seen: (true | undefined)[] = [];
    return withGateway(
      (request) => {
        seen.push(request.upgrade);
        return refusal;
      },
      async (gateway) => {
        const headers = {connection: 'Upgrade', upgrade: 'SPDY/3.1'};
        await overHttp1(gateway, exec, {method: 'POST', headers: {...headers, 'content-length': '2'}, body: 'hi'});
        await overHttp1(gateway, '/api/v1/namespaces/default/pods/a', {headers});
        await overHttp2(gateway, exec, {method: 'POST'});
        expect(seen).toEqual([undefined, undefined, undefined]);
      },
    );
  });

  test('tells the API when its client goes before the answer', () => {
    let gone = false;
    return withGateway(
      ({signal}) =>
        new Promise((resolve) => {
          signal!.addEventListener('abort', () => {
            gone = true;
            resolve(switched(new PassThrough()));
          });
        }),
      async (gateway) => {
        const {socket} = await dial(gateway);
        socket.write(head);
        await until(() => gateway.inFlight === 1);
        socket.destroy();
        await until(() => gone && gateway.inFlight === 0);
      },
    );
  });

  test('ends when the gateway closes', async () => {
    const backend = new PassThrough();
    let closed: Promise<unknown> | undefined;
    await withGateway(
      () => switched(backend),
      async (gateway) => {
        const {socket, says, ended} = await dial(gateway);
        closed = ended;
        socket.write(head);
        await says(/101/);
        await gateway.close(10_000);
      },
    );
    await closed;
    await until(() => backend.destroyed);
  });
});
