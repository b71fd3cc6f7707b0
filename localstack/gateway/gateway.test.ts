import {connect as connectHttp2} from 'node:http2';
import {Agent} from 'node:https';
import {connect} from 'node:tls';
import {gunzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import type {ApiRequest, ApiResponse, PushBody, PushSink} from '../../shared/http/messages.ts';
import {maxBodyBytes} from '../../shared/limits.ts';
import {loadOrCreatePki} from '../certificates.ts';
import type {Gateway} from './gateway.ts';
import {type Answer, overHttp1, overHttp2, testPki, until, withGateway} from './testing.ts';

const text = (body: string): Uint8Array => Buffer.from(body);
const plain = (body: string, status = 200): ApiResponse => ({status, headers: {'content-type': 'text/plain'}, body: text(body)});

type Over = (
  gateway: Gateway,
  path: string,
  ask?: {method?: string; headers?: Record<string, string>; body?: string | Uint8Array},
) => Promise<Answer>;
const protocols: [string, Over][] = [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
];

describe.each(protocols)('over %s', (name, over) => {
  test('a request arrives as plain data, and the answer leaves as given', () =>
    withGateway(
      (request) => ({
        status: 201,
        headers: {'content-type': 'application/json', warning: ['299 - "a"', '299 - "b"']},
        body: text(
          JSON.stringify([request.method, request.path, request.query, Buffer.from(request.body!).toString(), request.headers['x-a']]),
        ),
      }),
      async (gateway) => {
        const answer = await over(gateway, '/api/v1/a%2Fb?x=1&x=%20y+z', {method: 'POST', headers: {'x-a': 'b'}, body: 'hello'});
        expect(answer.status).toBe(201);
        expect(JSON.parse(answer.body.toString())).toEqual([
          'POST',
          '/api/v1/a%2Fb',
          [
            ['x', '1'],
            ['x', ' y z'],
          ],
          'hello',
          'b',
        ]);
        expect(answer.headers['warning']).toBe('299 - "a", 299 - "b"');
        expect(answer.headers['content-length']).toBe(String(answer.body.length));
        expect(answer.headers['date']).toBeDefined();
      },
    ));

  test('half of an answer does not look like a whole one', () =>
    withGateway(
      () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield text('half');
          throw new Error('the road broke');
        })(),
      }),
      async (gateway) => {
        await expect(over(gateway, '/')).rejects.toThrow();
      },
    ));

  test('the server says nothing about keeping the connection', () =>
    withGateway(
      () => plain('x'),
      async (gateway) => {
        const agent = name === 'HTTP/1.1' ? {agent: new Agent({keepAlive: true})} : {};
        const answer = await over(gateway, '/', agent as object);
        expect(answer.headers['connection']).toBeUndefined();
        expect(answer.headers['keep-alive']).toBeUndefined();
      },
    ));

  test('HEAD gets the headers of an answer and no body', () =>
    withGateway(
      () => plain('body', 405),
      async (gateway) => {
        const answer = await over(gateway, '/', {method: 'HEAD'});
        expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([405, '4', 0]);
      },
    ));

  test('a body over the limit reaches the API one byte too long, however long it was', () => {
    const sizes: number[] = [];
    return withGateway(
      (request) => {
        sizes.push(request.body!.length);
        return plain('too large', 413);
      },
      async (gateway) => {
        expect((await over(gateway, '/', {method: 'POST', body: Buffer.alloc(maxBodyBytes + 200_000)})).status).toBe(413);
        expect((await over(gateway, '/', {method: 'POST', body: Buffer.alloc(maxBodyBytes)})).status).toBe(413);
        expect(sizes).toEqual([maxBodyBytes + 1, maxBodyBytes]);
      },
    );
  });

  test('large answers are compressed for clients that say gzip, small ones and others are not', () => {
    const large = JSON.stringify(Array.from({length: 30_000}, (_, i) => `item-${i}`));
    return withGateway(
      ({path}) => plain(path === '/large' ? large : 'small'),
      async (gateway) => {
        const squeezed = await over(gateway, '/large', {headers: {'accept-encoding': 'deflate, gzip'}});
        expect(squeezed.headers['content-encoding']).toBe('gzip');
        expect(squeezed.headers['vary']).toBe('Accept-Encoding');
        expect(gunzipSync(squeezed.body).toString()).toBe(large);
        for (const headers of [{}, {'accept-encoding': 'gzip;q=1'}, {'accept-encoding': 'br'}]) {
          const whole = await over(gateway, '/large', {headers: headers as Record<string, string>});
          expect([whole.headers['content-encoding'], whole.body.length]).toEqual([undefined, large.length]);
        }
        expect((await over(gateway, '/small', {headers: {'accept-encoding': 'gzip'}})).headers['content-encoding']).toBeUndefined();
      },
    );
  });

  test('an API that throws is a 500 Status, and the next request is served', () => {
    let calls = 0;
    return withGateway(
      () => {
        if (calls++ === 0) throw new Error('out of cheese');
        return plain('fine');
      },
      async (gateway) => {
        const broken = await over(gateway, '/');
        expect(broken.status).toBe(500);
        expect(JSON.parse(broken.body.toString())).toMatchObject({
          kind: 'Status',
          reason: 'InternalError',
          message: 'Internal error occurred: out of cheese',
        });
        expect((await over(gateway, '/')).body.toString()).toBe('fine');
      },
    );
  });

  test('a method that nobody has heard of reaches the API', () =>
    withGateway(
      ({method, path, headers}) => plain(`${method} ${path} ${headers['authorization']}`, 405),
      async (gateway) => {
        const answer =
          name === 'HTTP/2' ? await over(gateway, '/pot', {method: 'BREW', headers: {authorization: 'Bearer x'}}) : await brew(gateway);
        expect([answer.status, answer.body.toString()]).toEqual([405, 'BREW /pot Bearer x']);
      },
    ));

  test('a stream goes out piece by piece and ends when it ends', () =>
    withGateway(
      () => ({
        status: 200,
        headers: {'content-type': 'application/json'},
        body: (async function* () {
          for (let i = 0; i < 3; i++) yield text(`${i}\n`);
        })(),
      }),
      async (gateway) => expect((await over(gateway, '/?watch=1')).body.toString()).toBe('0\n1\n2\n'),
    ));
});

/** Node's client does not know BREW either. */
async function brew(gateway: Gateway): Promise<Answer> {
  const raw = await overRaw(gateway, 'BREW /pot HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n');
  const [head = '', body = ''] = raw.split('\r\n\r\n');
  return {status: Number(head.split(' ')[1]), headers: {}, body: Buffer.from(body)};
}

async function overRaw(gateway: Gateway, bytes: string): Promise<string> {
  const {ca} = await testPki();
  return new Promise((resolve, reject) => {
    const socket = connect({host: '127.0.0.1', port: gateway.port, ca: ca.certificate, ALPNProtocols: ['http/1.1']}, () =>
      socket.write(bytes),
    );
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

describe('what is not HTTP, or too much of it', () => {
  const refused: [string, string, string][] = [
    ['garbage', 'GARBAGE\r\n\r\n', '400 Bad Request'],
    ['a broken escape in the path', 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n', '400 Bad Request'],
    ['headers over the limit', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(1_100_000)}\r\n\r\n`, '431 Request Header Fields Too Large'],
    ['a URL over the limit', `GET /?${'a'.repeat(1_100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, '431 Request Header Fields Too Large'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', '400 Bad Request'],
  ];
  test.each(refused)('%s is refused in the words of the reference', (_, bytes, line) =>
    withGateway(
      () => plain('reached'),
      async (gateway) => {
        const answer = await overRaw(gateway, bytes);
        expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${line}\r\n`));
        expect(answer.endsWith(line)).toBe(true);
      },
    ));

  test('an upgrade reaches the API as a plain request', () =>
    withGateway(
      ({method, headers, body}) => plain(`${method} ${headers['upgrade']} ${headers['connection']} ${Buffer.from(body ?? [])}`, 503),
      async (gateway) => {
        const agent = new Agent({keepAlive: true, maxSockets: 1});
        const ask = {method: 'POST', agent, headers: {connection: 'Upgrade', upgrade: 'SPDY/3.1'}, body: 'its body'};
        for (let time = 0; time < 2; time++) {
          const answer = await overHttp1(gateway, '/exec', ask);
          expect([answer.status, answer.body.toString()]).toEqual([503, 'POST SPDY/3.1 Upgrade its body']);
        }
        const socket = {upgrade: 'websocket', connection: 'keep-alive, upgrade', 'sec-websocket-protocol': 'v4.channel.k8s.io'};
        const answer = await overHttp1(gateway, '/exec', {headers: socket});
        expect(answer.body.toString()).toBe('GET websocket keep-alive, upgrade ');
        agent.destroy();
      },
    ));
});

describe('client certificates', () => {
  const asSeen = ({peer}: ApiRequest): ApiResponse => plain(JSON.stringify(peer));

  test('none, one of our CA, and a foreign one are three different things', () =>
    withGateway(asSeen, async (gateway, pki) => {
      const seen = async (options: object): Promise<unknown> => JSON.parse((await overHttp1(gateway, '/', options)).body.toString());
      expect(await seen({})).toEqual({address: '127.0.0.1'});
      expect(await seen({cert: pki.admin.certificate, key: pki.admin.key})).toEqual({
        address: '127.0.0.1',
        certificate: {
          subject: {commonName: 'clusterless-admin', organizations: ['system:masters']},
          fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      });
      const foreign = await loadOrCreatePki({names: []});
      expect(await seen({cert: foreign.admin.certificate, key: foreign.admin.key})).toEqual({
        address: '127.0.0.1',
        certificateError: expect.any(String),
      });
      // A serving certificate says nothing about who its holder is as a client.
      expect(await seen({cert: pki.serving.certificate, key: pki.serving.key})).toMatchObject({certificateError: expect.any(String)});
    }));

  test('a resumed session still knows its certificate', () =>
    withGateway(asSeen, async (gateway, pki) => {
      const agent = new Agent({keepAlive: false, maxCachedSessions: 10});
      const options = {agent, cert: pki.admin.certificate, key: pki.admin.key, servername: 'localhost'};
      const answers = [];
      for (let i = 0; i < 3; i++) answers.push((await overHttp1(gateway, '/', options)).body.toString());
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toContain('clusterless-admin');
    }));
});

describe('streams', () => {
  test('a client that does not read is not pulled for', async () => {
    let pulled = 0;
    let ended = false;
    const piece = Buffer.alloc(64 * 1024, 0x78);
    const body = (async function* () {
      try {
        for (;;) {
          pulled++;
          yield piece;
        }
      } finally {
        ended = true;
      }
    })();
    await withGateway(
      () => ({status: 200, headers: {}, body}),
      async (gateway) => {
        const {ca} = await testPki();
        const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {ca: ca.certificate});
        const stream = session.request({':path': '/?watch=1'});
        await new Promise((resolve) => stream.once('response', resolve));
        stream.pause();
        let before = -1;
        // Flow control closes after the client's window; then nothing moves any more.
        while (before !== pulled) {
          before = pulled;
          for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
        }
        expect(pulled).toBeLessThan(64);
        session.destroy();
        await until(() => ended);
      },
    );
  });

  test.each(
    protocols,
  )('a body that pushes is written as it comes, held back while the client does not read, and closed with it, over %s', async (name, over) => {
    const sinks: PushSink[] = [];
    let drained = 0;
    let closed = 0;
    const body = (): PushBody => ({
      pushTo: (sink) => {
        sinks.push(sink);
        return {drained: () => drained++, close: () => closed++};
      },
      [Symbol.asyncIterator]: () => {
        throw new Error('iterated');
      },
    });
    await withGateway(
      () => ({status: 200, headers: {}, body: body()}),
      async (gateway) => {
        const answers = [over(gateway, '/?watch=1'), over(gateway, '/?watch=2')];
        await until(() => sinks.length === 2);
        const piece = text('one\n');
        for (const sink of sinks) expect(sink.write(piece)).toBe(true);
        for (const sink of sinks) sink.write(text('two\n'));
        const large = Buffer.alloc(4 * 1024 * 1024, 0x78);
        expect(sinks[0]!.write(large)).toBe(false);
        await until(() => drained > 0);
        for (const sink of sinks) sink.end();
        const [first, second] = await Promise.all(answers);
        expect([first!.body.length, second!.body.toString()]).toEqual([8 + large.length, 'one\ntwo\n']);
        await until(() => closed === 2 && gateway.inFlight === 0);
        expect(name === 'HTTP/2' || first!.headers['transfer-encoding'] === 'chunked').toBe(true);
      },
    );
  });

  test('many large answers at once share one connection', async () => {
    const large = Buffer.alloc(8 * 1024 * 1024, 0x78);
    await withGateway(
      () => ({status: 200, headers: {}, body: large}),
      async (gateway) => {
        const {ca} = await testPki();
        const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {ca: ca.certificate, maxSessionMemory: 1_000});
        const sizes = await Promise.all(
          Array.from({length: 24}, async () => {
            let size = 0;
            for await (const chunk of session.request({':path': '/'})) size += chunk.length;
            return size;
          }),
        );
        session.close();
        expect(new Set(sizes)).toEqual(new Set([large.length]));
      },
    );
  });

  test.each(protocols)('a client that leaves ends the stream and aborts the signal over %s', async (name) => {
    let request: ApiRequest | undefined;
    let returned = false;
    const never: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise((resolve) => request!.signal!.addEventListener('abort', () => resolve({done: true, value: undefined}))),
        return: async () => {
          returned = true;
          return {done: true, value: undefined};
        },
      }),
    };
    await withGateway(
      (received) => {
        request = received;
        return {status: 200, headers: {}, body: never};
      },
      async (gateway) => {
        const {ca} = await testPki();
        if (name === 'HTTP/2') {
          const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {ca: ca.certificate});
          const stream = session.request({':path': '/?watch=1'});
          await new Promise((resolve) => stream.once('response', resolve));
          session.destroy();
        } else {
          const socket = connect({host: '127.0.0.1', port: gateway.port, ca: ca.certificate});
          socket.write('GET /?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n');
          await new Promise((resolve) => socket.once('data', resolve));
          socket.destroy();
        }
        await until(() => request!.signal!.aborted && returned && gateway.inFlight === 0);
      },
    );
  });
});

describe('closing', () => {
  test('waits for what is under way and takes nothing new', async () => {
    let finish!: (response: ApiResponse) => void;
    const gone: string[] = [];
    await withGateway(
      () => new Promise<ApiResponse>((resolve) => (finish = resolve)),
      async (gateway) => {
        const pending = overHttp1(gateway, '/slow');
        await until(() => gateway.inFlight === 1);
        const closed = gateway.close(5_000).then(() => gone.push('closed'));
        await expect(overHttp1(gateway, '/new')).rejects.toThrow('ECONNREFUSED');
        expect(gone).toEqual([]);
        finish(plain('done'));
        const answer = await pending;
        expect([answer.body.toString(), answer.headers['connection']]).toEqual(['done', 'close']);
        await closed;
      },
    );
  });

  test('hangs up on what does not end in time', () =>
    withGateway(
      () => new Promise<ApiResponse>(() => {}),
      async (gateway) => {
        const pending = overHttp2(gateway, '/never').catch((error: Error) => error.name);
        await until(() => gateway.inFlight === 1);
        await gateway.close(0);
        expect(await pending).toBeDefined();
      },
    ));
});
