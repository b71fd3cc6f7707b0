/** Clients that do not play by the rules of the transport, against the real gateway with the real API behind it. */
import {connect as connectHttp2, constants} from 'node:http2';
import {createConnection, type Socket} from 'node:net';
import {connect as connectTls} from 'node:tls';
import {gzipSync} from 'node:zlib';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {loadOrCreatePki, type Pki} from '../../localstack/certificates.ts';
import {type Gateway, openGateway} from '../../localstack/gateway/gateway.ts';
import type {Api} from '../../shared/api.ts';
import {createApi} from '../../shared/create-api.ts';
import {openMemory} from '../../shared/storage/embedded/open.ts';
import {admin} from '../api.ts';
import {Dice} from './dice.ts';

let pki: Pki;
let api: Api;
let gateway: Gateway;
beforeAll(async () => {
  pki = await loadOrCreatePki({names: ['localhost', '127.0.0.1']});
  gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    tls: {key: pki.serving.key, certificate: pki.serving.certificate, clientCa: pki.ca.certificate},
    patience: {handshakeMs: 300, headersMs: 300, requestMs: 600, checkMs: 50},
  });
  api = createApi({store: await openMemory(), user: admin});
  await api.start();
  gateway.serve(api);
});
afterAll(async () => {
  await gateway.close(0);
  await api.close();
});

const secure = (protocol = 'http/1.1'): Socket =>
  connectTls({host: '127.0.0.1', port: gateway.port, ca: pki.ca.certificate, ALPNProtocols: [protocol]});

/** Writes, reads all that comes until the server has hung up (or `until` has come), and answers with it. */
function converse(socket: Socket, pieces: (string | Uint8Array)[], until?: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until !== undefined && text.includes(until)) done();
    });
    socket.on('error', done);
    socket.on('close', done);
    socket.on('end', done);
    for (const piece of pieces) socket.write(piece);
  });
}

const request = (head: string, body = ''): string =>
  `${head}\r\nHost: a\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
/** After each attack the next client is served as ever. */
const isWell = async (): Promise<boolean> => (await converse(secure(), [request('GET /readyz HTTP/1.1')])).startsWith('HTTP/1.1 200 OK');
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);

describe('slow clients', () => {
  test('that never finish their headers are hung up on, however many', async () => {
    const answers = await Promise.all(Array.from({length: 60}, () => converse(secure(), ['GET /version HTTP/1.1\r\nHost: a\r\nX-Slow: '])));
    expect(new Set(answers.map(statusOf))).toEqual(new Set([408]));
    expect(await isWell()).toBe(true);
  });

  test('that never finish their bodies too', async () => {
    const head =
      'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{';
    const answers = await Promise.all(Array.from({length: 60}, () => converse(secure(), [head])));
    for (const answer of answers) expect([0, 408]).toContain(statusOf(answer));
    expect(await isWell()).toBe(true);
    expect(gateway.inFlight).toBe(0);
  });

  test('that upload over HTTP/2 without end lose their stream, not the others theirs', async () => {
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {ca: pki.ca.certificate});
    const slow = session.request(
      {':method': 'POST', ':path': '/api/v1/namespaces/default/configmaps', 'content-type': 'application/json'},
      {endStream: false},
    );
    slow.on('error', () => {});
    slow.write('{');
    await new Promise<void>((resolve) => slow.on('close', resolve));
    const next = session.request({':path': '/readyz'});
    const status = await new Promise((resolve) => next.on('response', (headers) => resolve(headers[':status'])));
    expect(status).toBe(200);
    session.destroy();
  });

  test('that never begin TLS are hung up on', async () => {
    const answers = await Promise.all(
      Array.from({length: 20}, () => converse(createConnection({host: '127.0.0.1', port: gateway.port}), [])),
    );
    expect(answers.every((answer) => answer.length < 200)).toBe(true);
    expect(await isWell()).toBe(true);
  });
});

describe('too much', () => {
  test.each([
    ['a header', `GET /version HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(1_100_000)}\r\n\r\n`],
    ['a URL', `GET /version?${'x'.repeat(1_100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ])('%s of a megabyte is 431', async (_what, text) => {
    expect([431, 0]).toContain(statusOf(await converse(secure(), [text])));
    expect(await isWell()).toBe(true);
  });

  test('a body that is compressed is not unpacked: a bomb stays small', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    const head = `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
    const before = process.memoryUsage().rss;
    const answer = await converse(secure(), [head, bomb]);
    expect([400, 415]).toContain(statusOf(answer));
    expect(answer).toContain('"kind":"Status"');
    expect(process.memoryUsage().rss - before).toBeLessThan(40_000_000);
  });

  test('a body over three MiB is 413, with a Status', async () => {
    const answer = await converse(secure(), [
      request('POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nContent-Type: application/json', ' '.repeat(3 * 1024 * 1024 + 1)),
    ]);
    expect(statusOf(answer)).toBe(413);
    expect(answer).toContain('RequestEntityTooLarge');
  });
});

describe('nonsense', () => {
  test.each([
    ['a request that is none', 'HELLO\r\n\r\n'],
    ['a length that is none', 'POST /version HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n'],
    ['two lengths', 'POST /version HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a length and chunks', 'POST /version HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk that is none', 'POST /version HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['a header that is none', 'GET /version HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n'],
    ['a line break in a header', 'GET /version HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n'],
    ['HTTP/2 without agreeing on it', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s is 400', async (_what, text) => {
    expect(statusOf(await converse(secure(), [text]))).toBe(400);
  });

  test('instead of TLS, or in it, hurts nobody', async () => {
    const dice = new Dice(7);
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const plain = (): Socket => createConnection({host: '127.0.0.1', port: gateway.port});
    await converse(plain(), ['GET / HTTP/1.1\r\n\r\n']);
    const noise = (): Uint8Array => dice.bytes(1 + dice.below(2_000));
    const rounds = Array.from({length: 20}, () => [
      converse(plain(), [noise()]),
      converse(secure(), [noise()]),
      converse(secure('h2'), [noise()]),
      converse(secure('h2'), [preface, noise()]),
      converse(secure('h2'), [preface]),
    ]);
    await Promise.all(rounds.flat());
    expect(await isWell()).toBe(true);
    expect(gateway.inFlight).toBe(0);
  });
});

test('streams that are opened and reset in a hurry cost nobody else anything', async () => {
  const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {ca: pki.ca.certificate});
  session.on('error', () => {});
  for (let round = 0; round < 20 && !session.destroyed; round++) {
    for (let at = 0; at < 100 && !session.destroyed; at++) {
      const stream = session.request({':path': at % 2 ? '/api/v1/configmaps?watch=1' : '/api/v1/configmaps'});
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await isWell()).toBe(true);
  session.destroy();
  for (let turn = 0; turn < 5_000 && gateway.inFlight > 0; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(gateway.inFlight).toBe(0);
});
