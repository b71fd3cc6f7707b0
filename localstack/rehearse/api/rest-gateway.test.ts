import {createServer, type IncomingMessage, request, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, expect, test} from 'vitest';
import {Throttled} from '../lambda/pool.ts';
import {FunctionError} from '../lambda/runtime-api.ts';
import type {Integration, RestApi} from './deployed.ts';
import {type Invoke, restGateway} from './rest-gateway.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

const buffered: Integration = {functionName: 'get', streams: false, timeoutMs: 29_000};
const api = (change: Partial<Integration> = {}): RestApi => ({
  id: 'a1',
  stage: 'k8s',
  region: 'us-east-1',
  accountId: '000000000000',
  binaryMediaTypes: ['*/*'],
  resources: [{id: 'r', path: '/api/{path+}', methods: {ANY: {...buffered, ...change}}}],
  responses: {
    MISSING_AUTHENTICATION_TOKEN: {status: 404, templates: {'application/json': '{"message":"not found"}'}, headers: {'Retry-After': '1'}},
    DEFAULT_5XX: {
      status: undefined,
      templates: {'application/json': '{"kind":"Status","message":$context.error.messageString}'},
      headers: {},
    },
  },
});

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
  whole: boolean;
}

async function ask(
  path: string,
  deployed: RestApi,
  invoke: Invoke,
  sent: {body?: Buffer; headers?: Record<string, string>} = {},
): Promise<Reply> {
  const gateway = restGateway(
    () => deployed,
    invoke,
    () => {},
  );
  server = createServer((incoming, outgoing) => gateway.serve(incoming, outgoing));
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  const {port} = server.address() as AddressInfo;
  return new Promise((done, fail) => {
    const outgoing = request({port, path, method: sent.body ? 'POST' : 'GET', headers: sent.headers ?? {}}, (answer) => {
      let body = '';
      answer.on('data', (piece) => {
        body += piece;
      });
      answer.on('error', () => {});
      answer.on('close', () => done({status: answer.statusCode!, headers: answer.headers, body, whole: answer.complete}));
    });
    outgoing.on('error', fail);
    outgoing.end(sent.body);
  });
}

const returning =
  (result: unknown): Invoke =>
  async () => ({payload: Buffer.from(JSON.stringify(result)), streamed: false});
const failing =
  (error: Error): Invoke =>
  () =>
    Promise.reject(error);

test('what a function returns is the answer; repeated headers stay repeated, some come under another name', async () => {
  const headers = {'WWW-Authenticate': 'Bearer', 'content-type': 'text/plain'};
  const result = {statusCode: 201, headers, multiValueHeaders: {'X-A': ['1', '2']}, body: 'aGk=', isBase64Encoded: true};
  const answer = await ask('/k8s/api/v1', api(), returning(result));
  expect(answer).toMatchObject({status: 201, body: 'hi'});
  expect(answer.headers).toMatchObject({'x-a': '1, 2', 'x-amzn-remapped-www-authenticate': 'Bearer', 'content-type': 'text/plain'});
});

test('the function sees the path without the stage, as behind a custom domain', async () => {
  for (const path of ['/k8s/api/v1/a%2Fb', '/api/v1/a%2Fb']) {
    const seen: string[] = [];
    await ask(path, api(), async (name, event) => {
      seen.push(name, JSON.parse(event.toString()).path);
      return {payload: Buffer.from('{"statusCode":200}'), streamed: false};
    });
    expect(seen).toEqual(['get', '/api/v1/a%2Fb']);
    server!.close();
  }
});

test('a path of no resource is answered as the template says', async () => {
  const answer = await ask('/k8s/other', api(), returning({}));
  expect(answer).toMatchObject({status: 404, body: '{"message":"not found"}'});
  expect(answer.headers['retry-after']).toBe('1');
});

test.each([
  ['throws', failing(new FunctionError('Error', 'secret')), 502],
  ['is at its limit', failing(new Throttled()), 500],
  ['answers what is no answer', returning('text'), 502],
  ['answers with no status', returning({body: 'x'}), 502],
  ['answers more than six megabytes', returning({statusCode: 200, body: 'x'.repeat(6 * 1024 * 1024)}), 502],
])('a function that %s is an internal error that tells nothing', async (_, invoke, status) => {
  const answer = await ask('/k8s/api/v1', api(), invoke);
  expect(answer).toMatchObject({status, body: '{"kind":"Status","message":"Internal server error"}'});
});

test('a function that takes longer than its integration waits is a gateway time-out', async () => {
  expect(await ask('/k8s/api/v1', api({timeoutMs: 20}), () => new Promise(() => {}))).toMatchObject({status: 504});
});

test('more than ten megabytes are not handed on, nor an event of more than six', async () => {
  for (const megabytes of [10.1, 5]) {
    const body = Buffer.alloc(megabytes * 1024 * 1024);
    expect(await ask('/k8s/api/v1', api(), returning({statusCode: 200}), {body})).toMatchObject({status: 413});
    server!.close();
  }
});

test('an upgrade is refused by being no upgrade any more', async () => {
  let headers: object = {};
  await ask(
    '/k8s/api/v1',
    api(),
    async (_name, event) => {
      headers = JSON.parse(event.toString()).headers;
      return {payload: Buffer.from('{"statusCode":400}'), streamed: false};
    },
    {headers: {connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io'}},
  );
  expect(Object.keys(headers).map((name) => name.toLowerCase())).not.toContain('upgrade');
});

test('a stream goes out as it comes, its metadata first', async () => {
  const answer = await ask('/k8s/api/v1', api({streams: true}), async (_name, _event, sink) => {
    sink!.head({statusCode: 202, headers: {'x-a': 'b'}, cookies: ['c=d']});
    sink!.data(Buffer.from('one '));
    sink!.data(Buffer.from('two'));
    return {payload: Buffer.alloc(0), streamed: true};
  });
  expect(answer).toMatchObject({status: 202, body: 'one two', whole: true});
  expect(answer.headers).toMatchObject({'x-a': 'b', 'set-cookie': ['c=d'], 'transfer-encoding': 'chunked'});
});

test('a stream that breaks is cut short, since its status is out', async () => {
  const answer = await ask('/k8s/api/v1', api({streams: true}), async (_name, _event, sink) => {
    sink!.head({statusCode: 200});
    sink!.data(Buffer.from('one'));
    await new Promise((resolve) => setImmediate(resolve));
    throw new FunctionError('Runtime.ExitError', 'taken away');
  });
  expect(answer).toMatchObject({status: 200, whole: false});
});
