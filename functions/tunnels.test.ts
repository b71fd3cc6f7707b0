/** Tunnels of nodes, from the event of the gateway to what is posted and read, over the engine and a double of its tables. */
import {beforeEach, describe, expect, test, vi} from 'vitest';
import {systemClock} from '../shared/clock.ts';
import type {RestHandler} from './kit/rest.ts';
import type {SocketHandler} from './kit/socket-handler.ts';
import {connectEvent, socketEvent, TestGateway} from './kit/socket-testing.ts';

type Kit = typeof import('./kit/testing.ts');
const protocol = 'v1.tunnel.clusterless.dev';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const json = {'Content-Type': 'application/json'};

/** Each test has the functions anew, which a busy machine takes its time for. */
const loadingMs = 60_000;

let kit: Kit;
let gateway: TestGateway;
let rest: Record<'create' | 'get' | 'list', RestHandler>;
let socket: Record<'connect' | 'message' | 'disconnect', SocketHandler>;
/** Calls to tables, by name; those of the engine are not among them. */
let called: string[];
/** What the log's stream holds. */
let records: object[];
let nowMs: number;
/** Stands until it is moved; what waits for time waits for that of the machine. */
const clock = {now: () => nowMs, after: systemClock.after};

beforeEach(async () => {
  vi.resetModules();
  nowMs = Date.now();
  gateway = new TestGateway();
  kit = await import('./kit/testing.ts');
  const tables = await kit.installTables({clock, openSockets: async () => gateway});
  const {double} = tables;
  ({records} = tables);
  called = [];
  const {doors} = await import('./kit/doors.ts');
  doors.calls = async () =>
    new Proxy(double, {
      get(target, name) {
        const call = Reflect.get(target, name) as unknown;
        if (typeof call !== 'function') return call;
        return (...args: unknown[]) => {
          called.push(String(name));
          return call.apply(target, args);
        };
      },
    });
  const load = async <T>(name: string) =>
    ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as {handler: T}).handler;
  rest = {create: await load('create'), get: await load('get'), list: await load('list')};
  socket = {connect: await load('socket-connect'), message: await load('socket-message'), disconnect: await load('socket-disconnect')};
  await post('/api/v1/namespaces', {kind: 'Namespace', apiVersion: 'v1', metadata: {name: 'kube-node-lease'}});
  for (const name of ['n1', 'n2']) {
    const spec = {holderIdentity: name, leaseDurationSeconds: 40, renewTime: micro(nowMs)};
    await post(leases, {kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: {name}, spec});
  }
}, loadingMs);

const micro = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
const post = (path: string, body: object) => rest.create(kit.restEvent('POST', path, {headers: json, body}));
const say = (connection: string, message: object | string) =>
  socket.message(socketEvent('$default', connection, {body: typeof message === 'string' ? message : JSON.stringify(message)}));
const last = (connection: string) => gateway.heard(connection).at(-1);

async function open(connection: string, node = 'n1', token = kit.adminToken): Promise<void> {
  await socket.connect(connectEvent(connection, protocol));
  await say(connection, {action: 'hello', node, token});
}
const renewed = async (name = 'n1'): Promise<number> =>
  Date.parse(JSON.parse((await rest.get(kit.restEvent('GET', `${leases}/${name}`))).body).spec.renewTime);
const listed = async (): Promise<Record<string, number>> => {
  const {items} = JSON.parse((await rest.list(kit.restEvent('GET', leases))).body);
  return Object.fromEntries(
    items.map(({metadata, spec}: {metadata: {name: string}; spec: {renewTime: string}}) => [metadata.name, Date.parse(spec.renewTime)]),
  );
};

describe('a node lives', () => {
  test('while its agent is heard, and its lease says so', async () => {
    const written = nowMs;
    await open('c1');
    expect(last('c1')).toMatchObject({action: 'welcome', form: 'text', pingSeconds: 100, leaseSeconds: 3_600});
    for (let i = 0; i < 5; i++) {
      nowMs += 100_000;
      await say('c1', {action: 'ping'});
      expect(last('c1')).toEqual({action: 'pong'});
      nowMs += 5_000;
      expect(await renewed()).toBe(nowMs);
      expect(await listed()).toEqual({n1: nowMs, n2: written});
    }
  });

  test('until its connection ends', async () => {
    await open('c1');
    nowMs += 60_000;
    const ended = nowMs;
    await socket.disconnect(socketEvent('$disconnect', 'c1'));
    nowMs += 60_000;
    expect(await renewed()).toBe(ended);
    await say('c1', {action: 'ping'});
    expect(last('c1')).toMatchObject({action: 'bye', code: 1001});
    expect(await renewed()).toBe(ended);
  });

  test('until it has been silent for long, when nobody tells of its end', async () => {
    await open('c1');
    const heard = nowMs;
    nowMs += 239_000;
    expect(await renewed()).toBe(nowMs);
    nowMs += 2_000;
    expect(await renewed()).toBe(heard);
    // The platform has noticed at last: that is no sign of life.
    nowMs += 400_000;
    await socket.disconnect(socketEvent('$disconnect', 'c1'));
    expect(await renewed()).toBe(heard);
  });

  test('on a newer connection, whatever becomes of the former', async () => {
    await open('c1');
    nowMs += 1_000;
    await open('c2');
    await say('c1', {action: 'ping'});
    expect(last('c1')).toEqual({action: 'pong'});
    await socket.disconnect(socketEvent('$disconnect', 'c1'));
    nowMs += 100_000;
    expect(await renewed()).toBe(nowMs);
    // Pings of the former were not taken for the newer one's.
    nowMs += 141_000;
    expect(await renewed()).toBeLessThan(nowMs);
  });

  test('no longer than its credential is good', async () => {
    await open('c1');
    nowMs += 3_600_000;
    await say('c1', {action: 'ping'});
    expect(last('c1')).toMatchObject({action: 'bye', code: 4401});
    expect(gateway.closed).toEqual(['c1']);
  });

  test('and shows its credential again in time', async () => {
    await open('c1');
    nowMs += 3_500_000;
    await say('c1', {action: 'hello', node: 'n1', token: kit.adminToken});
    nowMs += 200_000;
    await say('c1', {action: 'ping'});
    expect(last('c1')).toEqual({action: 'pong'});
    expect(await renewed()).toBe(nowMs);
  });

  test('also for an environment that has not heard of it before', async () => {
    await open('c1');
    const before = (await import('./kit/doors.ts')).doors;
    vi.resetModules();
    Object.assign((await import('./kit/doors.ts')).doors, before);
    const other = ((await import('./socket-message.ts')) as {handler: SocketHandler}).handler;
    nowMs += 100_000;
    await other(socketEvent('$default', 'c1', {body: '{"action":"ping"}'}));
    expect(last('c1')).toEqual({action: 'pong'});
    nowMs += 150_000;
    expect(await renewed()).toBe(nowMs);
  });

  test('for those who place pods as well', async () => {
    nowMs -= 600_000;
    await open('c1');
    nowMs += 600_000;
    await say('c1', {action: 'hello', node: 'n1', token: kit.adminToken});
    const conditions = [{type: 'Ready', status: 'True', reason: 'Said', message: ''}];
    for (const name of ['n1', 'n2']) await post('/api/v1/nodes', {kind: 'Node', apiVersion: 'v1', metadata: {name}, status: {conditions}});
    nowMs += 120_000;
    const controllers = ((await import('./controllers.ts')) as {handler: (event: unknown) => Promise<unknown>}).handler;
    await controllers({Records: records.splice(0)});
    const ready = async (name: string) =>
      JSON.parse((await rest.get(kit.restEvent('GET', `/api/v1/nodes/${name}`))).body).status.conditions[0].status;
    expect([await ready('n1'), await ready('n2')]).toEqual(['True', 'Unknown']);
  });

  test('at the price of one write a ping', async () => {
    await open('c1');
    called.length = 0;
    await say('c1', {action: 'ping'});
    expect(called).toEqual(['updateItem']);
  });
});

describe('a tunnel is refused', () => {
  test.each([
    ['a bad token', {action: 'hello', node: 'n1', token: 'wrong'}, 4401],
    ['no token at all', {action: 'hello', node: 'n1'}, 4401],
    ['a token that may not write the status of the node', {action: 'hello', node: 'n1', token: 'bob-token'}, 4401],
    ['the token of another node', {action: 'hello', node: 'n1', token: 'n2-token'}, 4401],
    ['a name that is no text', {action: 'hello', node: 7, token: 'admin-token'}, 4400],
    ['a name that is none', {action: 'hello', node: '../n1|x', token: 'admin-token'}, 4400],
    ['a ping before hello', {action: 'ping'}, 4401],
    ['no JSON', 'hello?', 4400],
    ['a message that is too long', {action: 'hello', node: 'n1', token: 'x'.repeat(40_000)}, 4400],
  ])('with %s', async (_what, message, code) => {
    await socket.connect(connectEvent('c1', protocol));
    await say('c1', message);
    expect(last('c1')).toMatchObject({action: 'bye', code});
    expect(gateway.closed).toEqual(['c1']);
    const before = await renewed();
    nowMs += 5_000;
    expect(await renewed()).toBe(before);
  });

  test('for another node than it was, and for somebody else', async () => {
    await open('c1');
    await say('c1', {action: 'hello', node: 'n2', token: kit.adminToken});
    expect(last('c1')).toMatchObject({action: 'bye', code: 4400});
    await open('c2', 'n2');
    await say('c2', {action: 'hello', node: 'n2', token: kit.bobToken});
    expect(last('c2')).toMatchObject({action: 'bye', code: 4401});
  });

  test('what it says is not taken for the watch protocol', async () => {
    await open('c1');
    await say('c1', {action: 'subscribe', id: 'a', collection: {version: 'v1', resource: 'secrets'}, resourceVersion: '1'});
    expect(last('c1')).toMatchObject({action: 'bye', code: 4400});
  });
});
