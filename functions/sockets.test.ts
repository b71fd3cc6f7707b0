/** Connections, subscriptions and changes, from the event of the gateway to what is posted, over the engine and a double of its tables. */
import {beforeEach, describe, expect, test, vi} from 'vitest';
import {systemClock} from '../shared/clock.ts';
import type {DynamoDouble} from '../shared/storage/dynamo/double/double.ts';
import type {RestHandler} from './kit/rest.ts';
import type {SocketHandler} from './kit/socket-handler.ts';
import {connectEvent, socketEvent, TestGateway} from './kit/socket-testing.ts';

type Kit = typeof import('./kit/testing.ts');
const protocol = 'v1.watch.clusterless.dev';

let kit: Kit;
let gateway: TestGateway;
let double: DynamoDouble;
let offsetMs = 0;
/** What the log's stream holds. */
let records: object[];
let rest: Record<'create' | 'delete' | 'patch' | 'list', RestHandler>;
let socket: Record<'connect' | 'message' | 'disconnect', SocketHandler>;
let fanOut: (event: unknown) => Promise<{batchItemFailures: object[]}>;

const clock = {now: () => Date.now() + offsetMs, after: systemClock.after};

beforeEach(async () => {
  vi.resetModules();
  offsetMs = 0;
  gateway = new TestGateway();
  kit = await import('./kit/testing.ts');
  ({double, records} = await kit.installTables({clock, openSockets: async () => gateway}));
  const load = async <T>(name: string) =>
    ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as {handler: T}).handler;
  rest = {create: await load('create'), delete: await load('delete'), patch: await load('patch'), list: await load('list')};
  socket = {connect: await load('socket-connect'), message: await load('socket-message'), disconnect: await load('socket-disconnect')};
  fanOut = await load('fan-out');
  await rest.create(
    kit.restEvent('POST', '/api/v1/namespaces', {headers: json, body: {kind: 'Namespace', apiVersion: 'v1', metadata: {name: 'default'}}}),
  );
  await create('zero');
  records.length = 0;
});

const json = {'Content-Type': 'application/json'};
const path = '/api/v1/namespaces/default/configmaps';
const create = (name: string) =>
  rest.create(
    kit.restEvent('POST', path, {headers: json, body: {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name, labels: {app: name}}}}),
  );

/** What the stream holds goes to the function, as a batch. */
async function ring(batch = records.splice(0)): Promise<object> {
  const result = await fanOut({Records: batch});
  const {doors} = (await import('./kit/doors.ts')) as unknown as {doors: {lines: {level?: string}[]}};
  expect(doors.lines.filter(({level}) => level === 'ERROR')).toEqual([]);
  return result;
}

const connect = (connection: string, headers: Record<string, string> = {}) => socket.connect(connectEvent(connection, protocol, headers));

const say = (connection: string, message: object | string) =>
  socket.message(socketEvent('$default', connection, {body: typeof message === 'string' ? message : JSON.stringify(message)}));

const collection = {group: '', version: 'v1', resource: 'configmaps', namespace: 'default'};

async function open(connection: string, token = kit.adminToken): Promise<void> {
  await connect(connection);
  await say(connection, {action: 'hello', token});
}

async function subscribe(connection: string, id = 'a', more: object = {}): Promise<void> {
  const {metadata} = JSON.parse((await rest.list(kit.restEvent('GET', path))).body);
  await say(connection, {action: 'subscribe', id, collection, resourceVersion: metadata.resourceVersion, ...more});
}

describe('a connection', () => {
  test('is accepted for the protocol, and says welcome to a good token', async () => {
    expect(await connect('c1')).toEqual({statusCode: 200, headers: {'Sec-WebSocket-Protocol': protocol}});
    await say('c1', {action: 'hello', token: kit.adminToken});
    expect(gateway.heard('c1')).toEqual([expect.objectContaining({action: 'welcome', pingSeconds: 240, maxSubscriptions: 200})]);
  });

  test('may bring its token in the handshake', async () => {
    await connect('c1', {Authorization: `Bearer ${kit.adminToken}`});
    await say('c1', {action: 'hello'});
    expect(gateway.heard('c1')).toEqual([expect.objectContaining({action: 'welcome'})]);
  });

  test('is refused with another protocol, or a token that is not good', async () => {
    expect(await connect('c1', {'Sec-WebSocket-Protocol': 'graphql-ws'})).toEqual({statusCode: 400});
    expect(await connect('c2', {Authorization: 'Bearer wrong'})).toEqual({statusCode: 401});
  });

  test('that says hello with a bad token, or nothing before hello, is told and hung up', async () => {
    await connect('c1');
    await say('c1', {action: 'hello', token: 'wrong'});
    expect(gateway.heard('c1')).toEqual([
      expect.objectContaining({action: 'error', status: expect.objectContaining({code: 401})}),
      {action: 'bye', code: 4401, reason: 'not authenticated'},
    ]);
    await connect('c2');
    await say('c2', {action: 'ping'});
    expect(gateway.heard('c2').at(-1)).toMatchObject({action: 'bye', code: 4401});
    expect(gateway.closed).toEqual(['c1', 'c2']);
  });

  test('that nobody knows is told to come again', async () => {
    await say('stranger', {action: 'ping'});
    expect(gateway.heard('stranger')).toEqual([{action: 'bye', code: 1001, reason: 'this connection is not known'}]);
  });

  test.each([
    ['no JSON', 'hello?', 4400],
    ['an unknown action', '{"action":"drop tables"}', 4400],
    ['a message that is too long', JSON.stringify({action: 'hello', token: 'x'.repeat(40_000)}), 4400],
  ])('that says %s is told and hung up', async (_what, text, code) => {
    await open('c1');
    await say('c1', text);
    expect(gateway.heard('c1').at(-1)).toMatchObject({action: 'bye', code});
  });

  test('is asked for by its events only', async () => {
    await expect(socket.message({httpMethod: 'GET', path: '/'})).rejects.toThrow('not an event of an API Gateway WebSocket API');
    await expect(fanOut({httpMethod: 'GET'})).rejects.toThrow('not a batch of a DynamoDB stream');
  });
});

describe('a subscription', () => {
  test('hears of every later change once, in order, in frames that leave no gap', async () => {
    await open('c1');
    await subscribe('c1');
    await create('one');
    await create('two');
    await ring();
    await rest.delete(kit.restEvent('DELETE', `${path}/one`));
    await ring();
    expect(gateway.events('c1')).toEqual(['ADDED one', 'ADDED two', 'DELETED one']);
    const frames = gateway.heard('c1').filter(({action}) => action === 'events');
    expect(frames.map(({from}) => from).slice(1)).toEqual(frames.map(({to}) => to).slice(0, -1));
  });

  test('from before is sent what it missed', async () => {
    const {metadata} = JSON.parse((await rest.list(kit.restEvent('GET', path))).body);
    await create('one');
    await open('c1');
    await say('c1', {action: 'subscribe', id: 'a', collection, resourceVersion: metadata.resourceVersion});
    expect(gateway.events('c1')).toEqual(['ADDED one']);
    await ring();
    expect(gateway.events('c1')).toEqual(['ADDED one']);
  });

  test('may be rung for late, twice, and out of order', async () => {
    await open('c1');
    await subscribe('c1');
    for (const name of ['a', 'b', 'c', 'd']) await create(name);
    const [first, second, third, fourth] = records.splice(0);
    await Promise.all([ring([third!, first!]), ring([fourth!])]);
    await ring([second!, first!]);
    expect(gateway.events('c1')).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d']);
  });

  test('survives a sender that dies with the right to send', async () => {
    await open('c1');
    await subscribe('c1');
    const {Connections} = await import('./kit/connections.ts');
    const connections = new Connections({calls: double, table: 'connections', cluster: 'default', now: () => clock.now()});
    expect(await connections.acquire('configmaps', 'who dies', 30_000)).toMatchObject({rings: 1});
    await create('one');
    const rung = ring();
    setTimeout(() => {
      offsetMs += 31_000;
    }, 50);
    await rung;
    expect(gateway.events('c1')).toEqual(['ADDED one']);
  });

  test('sees what its selector lets through', async () => {
    await open('c1');
    await subscribe('c1', 'a', {labelSelector: 'app=two'});
    await create('one');
    await create('two');
    await ring();
    expect(gateway.events('c1')).toEqual(['ADDED two']);
  });

  test('is told with a pong up to where there was nothing else', async () => {
    await open('c1');
    await subscribe('c1', 'a', {labelSelector: 'app=two'});
    await create('two');
    await create('one');
    await ring();
    await say('c1', {action: 'ping'});
    const {progress} = gateway.heard('c1').at(-1);
    const head = JSON.parse((await rest.list(kit.restEvent('GET', path))).body).metadata.resourceVersion;
    expect(progress).toEqual({a: [String(Number(head) - 1), head]});
  });

  test('can ask for what it lost', async () => {
    await open('c1');
    await subscribe('c1');
    await create('one');
    await ring();
    const {from} = gateway.heard('c1').find(({action}) => action === 'events');
    gateway.posted.clear();
    await say('c1', {action: 'replay', id: 'a', from});
    expect(gateway.events('c1')).toEqual(['ADDED one']);
    await say('c1', {action: 'replay', id: 'nobody', from});
    expect(gateway.heard('c1').at(-1)).toMatchObject({action: 'error', id: 'nobody', status: {code: 404}});
  });

  test('to what one may not see, or what is not there, is refused', async () => {
    await open('c1', kit.bobToken);
    await say('c1', {action: 'subscribe', id: 'a', collection, resourceVersion: '1'});
    await open('c2');
    await say('c2', {action: 'subscribe', id: 'b', collection: {...collection, resource: 'nothing'}, resourceVersion: '1'});
    expect(gateway.heard('c1').at(-1)).toMatchObject({action: 'error', id: 'a', status: {code: 403}});
    expect(gateway.heard('c2').at(-1)).toMatchObject({action: 'error', id: 'b', status: {code: 404}});
  });

  test('ends with the right to it', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{apiGroups: [''], resources: ['configmaps'], verbs: ['watch', 'list']}];
    const role = {kind: 'Role', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: {name: 'sees'}, rules};
    await rest.create(kit.restEvent('POST', `${rbac}/roles`, {headers: json, body: role}));
    const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'sees'};
    const subjects = [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob'}];
    const binding = {kind: 'RoleBinding', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: {name: 'bob'}, roleRef, subjects};
    await rest.create(kit.restEvent('POST', `${rbac}/rolebindings`, {headers: json, body: binding}));
    await open('c1', kit.bobToken);
    await subscribe('c1');
    await create('one');
    await ring();
    await rest.delete(kit.restEvent('DELETE', `${rbac}/rolebindings/bob`));
    await create('two');
    await ring();
    expect(gateway.events('c1')).toEqual(['ADDED one']);
    expect(gateway.heard('c1').at(-1)).toMatchObject({action: 'error', id: 'a', status: {code: 403}});
  });

  test('ends with the credential, unless that was shown again', async () => {
    await open('c1');
    await subscribe('c1');
    await open('c2');
    await subscribe('c2');
    offsetMs += 3_000_000;
    await say('c2', {action: 'hello', token: kit.adminToken});
    offsetMs += 1_000_000;
    await create('one');
    await ring();
    expect(gateway.events('c1')).toEqual([]);
    expect(gateway.heard('c1').at(-1)).toEqual({action: 'bye', code: 4401, reason: 'the credential has expired'});
    expect(gateway.events('c2')).toEqual(['ADDED one']);
  });

  test('of who is idle ends with the credential, at its next sign of life', async () => {
    await open('c1');
    await subscribe('c1');
    offsetMs += 3_000_000;
    await say('c1', {action: 'ping'});
    expect(gateway.heard('c1').at(-1)).toMatchObject({action: 'pong'});
    offsetMs += 1_000_000;
    await say('c1', {action: 'ping'});
    expect(gateway.heard('c1').at(-1)).toEqual({action: 'bye', code: 4401, reason: 'the credential has expired'});
    expect(gateway.closed).toEqual(['c1']);
    const before = gateway.heard('c1').length;
    await create('one');
    await ring();
    expect(gateway.heard('c1')).toHaveLength(before);
  });

  test('of somebody who is gone is forgotten, and those who take nothing are hung up', async () => {
    for (const connection of ['gone', 'stuck', 'well', 'left']) {
      await open(connection);
      await subscribe(connection);
    }
    await socket.disconnect(socketEvent('$disconnect', 'left', {body: ''}));
    gateway.gone.add('gone');
    gateway.failing = (connection) => {
      if (connection === 'stuck') throw new Error('throttled');
    };
    const before = gateway.heard('left').length;
    await create('one');
    await ring();
    expect(gateway.events('well')).toEqual(['ADDED one']);
    expect(gateway.heard('left')).toHaveLength(before);
    expect(gateway.closed).toEqual(['stuck']);
    await create('two');
    expect(await ring()).toEqual({batchItemFailures: []});
    expect(gateway.events('well')).toEqual(['ADDED one', 'ADDED two']);
  });
});

describe('a frame and a pong claim no more than was sent', () => {
  const revisionNow = async (): Promise<number> =>
    Number(JSON.parse((await rest.list(kit.restEvent('GET', path))).body).metadata.resourceVersion);
  const lastFrame = (connection: string) =>
    gateway
      .heard(connection)
      .filter(({action}) => action === 'events')
      .at(-1);

  test('to who left, and came back to where it was: nobody heard what happened in between', async () => {
    await open('c1');
    await subscribe('c1');
    await create('one');
    await ring();
    const position = lastFrame('c1').to;
    await say('c1', {action: 'unsubscribe', id: 'a'});
    await create('two');
    await ring();
    const missed = await revisionNow();
    await say('c1', {action: 'subscribe', id: 'b', collection, resourceVersion: position});
    gateway.posted.clear();
    await create('three');
    await ring();
    // It may overtake the replay, which alone has two.
    expect(gateway.events('c1')).toEqual(['ADDED three']);
    expect(Number(lastFrame('c1').from)).toBeGreaterThanOrEqual(missed);
  });

  test('to who subscribes while something happens that does not find it yet', async () => {
    await open('c1');
    const resourceVersion = String(await revisionNow());
    const putItem = double.putItem.bind(double);
    double.putItem = async (input) => {
      if (/[|]t[|]configmaps$/.test(input.Item?.['pk']?.S ?? '')) {
        double.putItem = putItem;
        await create('one');
        await ring();
      }
      return putItem(input);
    };
    await say('c1', {action: 'subscribe', id: 'a', collection, resourceVersion});
    const missed = await revisionNow();
    expect(gateway.events('c1')).toEqual(['ADDED one']);
    await create('two');
    await ring();
    expect(gateway.events('c1')).toEqual(['ADDED one', 'ADDED two']);
    expect(Number(lastFrame('c1').from)).toBeGreaterThanOrEqual(missed);
  });

  test('when a pong overtakes what is sent of the past', async () => {
    await open('other');
    await subscribe('other', 'all', {labelSelector: 'app'});
    await open('c1');
    const resourceVersion = String(await revisionNow());
    await create('one');
    await ring();
    const missed = await revisionNow();
    gateway.underWay = async (text) => {
      if (!text.includes('"subscribed"')) return;
      gateway.underWay = undefined;
      await say('c1', {action: 'ping'});
    };
    await say('c1', {action: 'subscribe', id: 'a', collection, resourceVersion});
    const {progress} = gateway.heard('c1').find(({action}) => action === 'pong');
    // Who is behind the first number asks; who took the second one for its own would pass over one.
    expect(Number(progress.a[0])).toBeGreaterThanOrEqual(missed);
  });

  test('after a sender that was taken for dead had its say', async () => {
    const {Connections} = await import('./kit/connections.ts');
    const connections = new Connections({calls: double, table: 'connections', cluster: 'default', now: () => clock.now()});
    await connections.sent('configmaps', 'topic', 90);
    await connections.sent('configmaps', 'topic', 60);
    expect((await connections.of('configmaps')).last).toEqual(new Map([['topic', 90]]));
  });
});

describe('what nobody wants', () => {
  test('costs one look', async () => {
    await create('one');
    await ring([...records]);
    double.metered = [];
    await ring(records.filter((record) => JSON.stringify(record).includes('"S":"configmaps"')));
    expect(double.metered.map(({verb}) => verb)).toEqual(['query']);
  });
});
