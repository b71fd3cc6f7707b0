/** Logs, proxies and upgrades through a node's tunnel, from the events of both gateways to an agent that speaks HTTP on its streams. */
import {createServer} from 'node:http';
import type {Duplex} from 'node:stream';
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {systemClock} from '../shared/clock.ts';
import type {StreamFrame} from '../shared/nodes/tunnel/frames.ts';
import {Multiplexer} from '../shared/nodes/tunnel/multiplexer.ts';
import {decodeText} from '../shared/nodes/tunnel/text.ts';
import type {DynamoDouble} from '../shared/storage/dynamo/double/double.ts';
import type {RestHandler} from './kit/rest.ts';
import type {SocketHandler} from './kit/socket-handler.ts';
import {connectEvent, socketEvent, TestGateway} from './kit/socket-testing.ts';

type Kit = typeof import('./kit/testing.ts');
const protocol = 'v1.tunnel.clusterless.dev';
const json = {'Content-Type': 'application/json'};
const podPath = '/api/v1/namespaces/default/pods/web';

/** Each test has the functions anew, which a busy machine takes its time for. */
const loadingMs = 60_000;

let kit: Kit;
let gateway: Connected;
let rest: Record<'create' | 'connect', RestHandler>;
let socket: Record<'connect' | 'message' | 'disconnect', SocketHandler>;
let agent: Agent;
let tables: DynamoDouble;
let offsetMs: number;
const clock = {now: () => Date.now() + offsetMs, after: systemClock.after};

/** What is posted is heard by whoever is connected; it comes late, and not in order, as from a real one. */
class Connected extends TestGateway {
  readonly peers = new Map<string, (text: string) => void>();

  override async post(connection: string, messages: readonly Uint8Array[]): Promise<'sent' | 'gone'> {
    const outcome = await super.post(connection, messages);
    if (outcome === 'gone') return outcome;
    for (const message of messages) setTimeout(() => this.peers.get(connection)?.(Buffer.from(message).toString()), Math.random() * 8);
    return outcome;
  }
}

/** On its streams an HTTP server, as the agent's own; and what has gone to addresses. */
class Agent {
  readonly asked: string[] = [];
  readonly streams: Duplex[] = [];
  readonly mux: Multiplexer;
  readonly #server = createServer((request, response) => {
    this.asked.push(`${request.method} ${request.url}`);
    if (request.url!.startsWith('/containerLogs/default/web/main?follow=true')) {
      response.write('first\n');
      this.follow = (line) => void (line === undefined ? response.end() : response.write(line));
      return;
    }
    if (request.url!.startsWith('/containerLogs')) response.end('line\n'.repeat(20_000));
    else response.end(`hello from ${request.headers.host}`);
  });
  follow: ((line: string | undefined) => void) | undefined;

  constructor(connection: string) {
    this.#server.on('upgrade', (request, stream: Duplex) => {
      this.asked.push(
        `${request.method} ${request.url} as ${request.headers.upgrade}, ${request.headers['x-odd']}, ${request.headers.authorization}`,
      );
      stream.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      stream.pipe(stream);
    });
    this.mux = new Multiplexer({
      form: 'text',
      clock: systemClock,
      carrier: {send: (message) => later(() => say(connection, String(message))), room: () => undefined},
      accept: (stream) => {
        this.streams.push(stream);
        this.#server.emit('connection', stream);
      },
    });
    gateway.peers.set(connection, (text) => {
      const frame = decodeText(text);
      if ('stream' in frame) this.mux.receive(frame as StreamFrame);
    });
  }
}

/** What functions are doing: a test is not over before they are. */
const working = new Set<Promise<unknown>>();
function later(act: () => Promise<unknown>): void {
  const work: Promise<unknown> = new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
    .then(act)
    .finally(() => working.delete(work));
  working.add(work);
}

const say = (connection: string, message: object | string) =>
  socket.message(socketEvent('$default', connection, {body: typeof message === 'string' ? message : JSON.stringify(message)}));
const post = (path: string, body: object) => rest.create(kit.restEvent('POST', path, {headers: json, body}));
const last = (connection: string) => gateway.heard(connection).at(-1);

async function open(connection: string, hello: object = {}, token = kit.adminToken): Promise<void> {
  await socket.connect(connectEvent(connection, protocol));
  await say(connection, {action: 'hello', token, ...hello});
}

beforeEach(async () => {
  vi.resetModules();
  offsetMs = 0;
  gateway = new Connected();
  kit = await import('./kit/testing.ts');
  tables = (await kit.installTables({clock, openSockets: async () => gateway})).double;
  const load = async <T>(name: string) =>
    ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as {handler: T}).handler;
  rest = {create: await load('create'), connect: await load('connect')};
  socket = {connect: await load('socket-connect'), message: await load('socket-message'), disconnect: await load('socket-disconnect')};
  await post('/api/v1/namespaces', {kind: 'Namespace', apiVersion: 'v1', metadata: {name: 'default'}});
  await post('/api/v1/namespaces/default/serviceaccounts', {kind: 'ServiceAccount', apiVersion: 'v1', metadata: {name: 'default'}});
  const status = {addresses: [{type: 'InternalIP', address: '10.0.0.9'}]};
  await post('/api/v1/nodes', {kind: 'Node', apiVersion: 'v1', metadata: {name: 'n1'}, status});
  const spec = {nodeName: 'n1', containers: [{name: 'main', image: 'web'}]};
  await post('/api/v1/namespaces/default/pods', {kind: 'Pod', apiVersion: 'v1', metadata: {name: 'web'}, spec});
  await open('agent', {node: 'n1'});
  agent = new Agent('agent');
}, loadingMs);

afterEach(async () => {
  while (working.size > 0) await Promise.all(working);
});

const until = (condition: () => boolean) => expect.poll(condition, {timeout: 15_000, interval: 5}).toBe(true);

describe('a request through the tunnel', () => {
  test('is answered with what the node says, however its frames come', async () => {
    const answer = await rest.connect(kit.restEvent('GET', `${podPath}/log`));
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toBe('line\n'.repeat(20_000));
    expect(agent.asked).toEqual(['GET /containerLogs/default/web/main']);
  });

  test('leaves nothing behind that somebody would look at', async () => {
    await rest.connect(kit.restEvent('GET', '/api/v1/nodes/n1/proxy/healthz'));
    const {stream} = gateway.heard('agent').find(({action}) => action === 'open');
    offsetMs = 31_000;
    await say('agent', `${JSON.stringify({action: 'data', stream, at: 0})}\nAAAA`);
    await until(() => last('agent').action === 'reset');
    expect(last('agent')).toMatchObject({action: 'reset', stream});
  });

  test('is refused where there is no tunnel, or it is not heard', async () => {
    await post('/api/v1/nodes', {kind: 'Node', apiVersion: 'v1', metadata: {name: 'n2'}});
    const refused = await rest.connect(kit.restEvent('GET', '/api/v1/nodes/n2/proxy/healthz'));
    expect([refused.statusCode, JSON.parse(refused.body).message]).toEqual([503, expect.stringContaining('no agent is connected')]);
    offsetMs = 300_000;
    expect((await rest.connect(kit.restEvent('GET', '/api/v1/nodes/n1/proxy/healthz'))).statusCode).toBe(503);
  });

  test('is refused when the connection turns out to have ended', async () => {
    gateway.gone.add('agent');
    const refused = await rest.connect(kit.restEvent('GET', '/api/v1/nodes/n1/proxy/healthz'));
    expect([refused.statusCode, JSON.parse(refused.body).message]).toEqual([503, expect.stringContaining('has ended')]);
    gateway.gone.clear();
    expect((await rest.connect(kit.restEvent('GET', '/api/v1/nodes/n1/proxy/healthz'))).statusCode).toBe(503);
  });

  test('breaks with the connection, when its end is told', async () => {
    const asking = rest.connect(kit.restEvent('GET', `${podPath}/log?follow=true`));
    await until(() => agent.follow !== undefined);
    await socket.disconnect(socketEvent('$disconnect', 'agent'));
    // With a Status, or in the middle of what it said.
    expect((await asking.catch(() => ({statusCode: 503}))).statusCode).toBe(503);
  });
});

test('a table that is busy loses no frame', async () => {
  let failures = 3;
  const put = tables.putItem.bind(tables);
  tables.putItem = async (...given) => {
    if (given[0].Item?.['pk']?.S?.includes('|x|') && failures-- > 0) throw Object.assign(new Error('busy'), {name: 'ThrottlingException'});
    return put(...given);
  };
  expect((await rest.connect(kit.restEvent('GET', `${podPath}/log`))).body).toBe('line\n'.repeat(20_000));
  expect(failures).toBeLessThan(0);
});

describe('a traveller', () => {
  const exec = `${podPath}/exec?command=ls&stdout=1`;
  const upgrade = {connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io'};
  const ask = (connection: string, more: object = {}) =>
    say(connection, {action: 'dial', id: '1', method: 'POST', target: exec, headers: upgrade, ...more});
  const bytesTo = (connection: string) =>
    Buffer.concat(
      (gateway.posted.get(connection) ?? [])
        .map((text) => decodeTextOr(text))
        .flatMap((frame) => (frame?.action === 'data' ? [{at: frame.at, bytes: frame.bytes}] : []))
        .sort((a, b) => a.at - b.at)
        .map(({bytes}) => bytes),
    ).toString();
  const decodeTextOr = (text: string): StreamFrame | undefined => {
    try {
      const frame = decodeText(text);
      return 'stream' in frame ? (frame as StreamFrame) : undefined;
    } catch {
      return undefined;
    }
  };

  test('dials what the API lets it, which writes the head; bytes behind it go both ways', async () => {
    await open('t1');
    await ask('t1', {headers: {...upgrade, authorization: `Bearer ${kit.adminToken}`, 'x-odd': 'as sent'}});
    const dialled = gateway.heard('t1').find(({action}) => action === 'dialled');
    expect(dialled).toMatchObject({id: '1', stream: expect.any(String), at: expect.any(Number)});
    await until(() => bytesTo('t1').includes('101 Switching'));
    expect(agent.asked).toEqual(['POST /exec/default/web/main?command=ls&output=1 as SPDY/3.1, as sent, undefined']);
    const {stream, at} = dialled;
    await say('t1', `${JSON.stringify({action: 'data', stream, at})}\n${Buffer.from('ping!').toString('base64')}`);
    await until(() => bytesTo('t1').endsWith('ping!'));
    await socket.disconnect(socketEvent('$disconnect', 't1'));
    await until(() => agent.streams[0]!.destroyed);
  });

  test('is refused with the API’s own words', async () => {
    await open('t1', {}, kit.bobToken);
    await ask('t1');
    expect(last('t1')).toMatchObject({action: 'refused', id: '1', status: 403, body: expect.stringContaining('cannot create resource')});
    await ask('t1', {headers: {...upgrade, authorization: 'Bearer wrong'}});
    expect(last('t1')).toMatchObject({action: 'refused', status: 401});
    await open('t2');
    await ask('t2', {target: exec.replace('web', 'none')});
    expect(last('t2')).toMatchObject({action: 'refused', status: 404, body: expect.stringContaining('pods \\"none\\" not found')});
    await ask('t2', {headers: {...upgrade, 'impersonate-user': 'bob'}});
    expect(last('t2')).toMatchObject({action: 'refused', status: 403});
    expect(agent.asked).toEqual([]);
  });

  test.each([
    ['what does not switch protocols', {headers: {}}],
    ['a log, which it would not be alone on', {method: 'GET', target: `${podPath}/log`}],
    ['what a server would not take for a switch', {headers: {...upgrade, connection: 'x-upgrade'}}],
    ['what has a body', {headers: {...upgrade, 'content-length': '5'}}],
    ['what has pieces of one', {headers: {...upgrade, 'transfer-encoding': 'chunked'}}],
    ['TLS, which it would have to speak itself', {target: '/api/v1/nodes/https:n1:444/proxy/'}],
    ['a port behind which another request could come', {method: 'GET', target: '/api/v1/nodes/n1:444/proxy/'}],
    ['what is no path', {target: 'http://elsewhere/'}],
    ['a target with a line in it', {target: `${exec}\r\nX: y`}],
    ['a header with a line in it', {headers: {...upgrade, 'x-a': 'b\r\nhost: c'}}],
    ['a method of its own', {method: 'GET /other HTTP/1.1\r\nx:'}],
    ['no headers', {headers: null}],
  ])('cannot dial %s', async (_what, more) => {
    await open('t1');
    await ask('t1', more);
    expect(last('t1')).toSatisfy(
      ({action, status, code}: {action: string; status: number; code: number}) =>
        (action === 'refused' && (status === 400 || status === 503)) || (action === 'bye' && code === 4400),
    );
    expect(gateway.heard('agent').map(({action}) => action)).toEqual(['welcome']);
  });

  test('cannot write to the stream of another, nor can another node answer', async () => {
    await open('t1');
    await ask('t1');
    const {stream, at} = gateway.heard('t1').find(({action}) => action === 'dialled');
    await until(() => bytesTo('t1').includes('101 Switching'));
    const seen = agent.streams[0]!.readableLength;
    const frame = (offset: number) => `${JSON.stringify({action: 'data', stream, at: offset})}\n${Buffer.from('evil').toString('base64')}`;
    await open('t2');
    await say('t2', frame(at));
    expect(last('t2')).toMatchObject({action: 'reset', stream, reason: 'there is no such stream'});
    await post('/api/v1/nodes', {kind: 'Node', apiVersion: 'v1', metadata: {name: 'n2'}});
    await open('agent2', {node: 'n2'});
    await say('agent2', frame(0));
    expect(last('agent2')).toMatchObject({action: 'reset', stream});
    expect(bytesTo('t1')).not.toContain('evil');
    expect(agent.streams[0]!.readableLength).toBe(seen);
  });

  test('cannot be there before the head that the server writes', async () => {
    await open('t1');
    let dialled: {stream: string; at: number} | undefined;
    gateway.underWay = async (text) => {
      if (dialled || !text.includes('"dialled"')) return;
      dialled = JSON.parse(text);
      const {stream, at} = dialled!;
      const frame = (offset: number) => say('t1', `${JSON.stringify({action: 'data', stream, at: offset})}\n${'R0VUIC9vdGhlciA='}`);
      await frame(0);
      await frame(at - 1);
    };
    await ask('t1');
    await until(() => bytesTo('t1').includes('101 Switching'));
    expect(agent.asked).toEqual(['POST /exec/default/web/main?command=ls&output=1 as SPDY/3.1, undefined, undefined']);
    const {stream} = dialled!;
    const refusals = gateway.heard('t1').filter(({action}) => action === 'reset');
    expect(refusals).toEqual(Array(2).fill({action: 'reset', stream, reason: 'what stands there is not yours to write'}));
  });

  test('must say who it is first, and is no node; a node does not dial, nor open streams here', async () => {
    await socket.connect(connectEvent('t1', protocol));
    await ask('t1');
    expect(last('t1')).toMatchObject({action: 'bye', code: 4401});
    await open('t2');
    await say('t2', {action: 'hello', node: 'n1', token: kit.adminToken});
    expect(last('t2')).toMatchObject({action: 'bye', code: 4400});
    await say('agent', {action: 'open', stream: 'mine', to: 'agent'});
    expect(last('agent')).toMatchObject({action: 'reset', stream: 'mine'});
    await ask('agent');
    expect(last('agent')).toMatchObject({action: 'bye', code: 4400});
  });

  test('learns with a ping that a node has fallen silent', async () => {
    await open('t1');
    await ask('t1');
    const {stream} = gateway.heard('t1').find(({action}) => action === 'dialled');
    offsetMs = 100_000;
    await say('t1', {action: 'ping'});
    expect(last('t1')).toEqual({action: 'pong'});
    offsetMs = 300_000;
    await say('t1', {action: 'ping'});
    expect(gateway.heard('t1').at(-2)).toMatchObject({action: 'reset', stream});
  });
});
