/** The watch protocol over a real gateway and API, with real clients. */
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {WebSocket} from 'ws';
import {subprotocol} from '../../shared/changes/protocol/messages.ts';
import {connect, type KubeClient} from '../../shared/client/node/connect.ts';
import type {Credentials} from '../../shared/client/node/credentials.ts';
import type {KubeObject} from '../../shared/object.ts';
import {type Cluster, startCluster} from '../library.ts';
import {breakingProxy} from './testing.ts';
import {watchSocketPath} from './upgrade.ts';

let cluster: Cluster;
let client: KubeClient;
const configMaps = {groupVersion: 'v1', resource: 'configmaps', namespace: 'default'};

beforeAll(async () => {
  const bob = {name: 'bob', groups: ['system:authenticated']};
  cluster = await startCluster({inMemory: true, staticTokens: new Map([['bob-token', bob]])});
  client = await connect({credentials: credentials(cluster.adminToken!)});
}, 30_000);

afterAll(async () => {
  client.close();
  await cluster.close({graceMs: 0});
});

const credentials = (token: string, server = cluster.url): Credentials => ({
  server,
  ca: cluster.caCertificate,
  namespace: 'default',
  present: async () => ({authorization: `Bearer ${token}`}),
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const configMap = (name: string, data: Record<string, string> = {}) => ({metadata: {name}, data});

/** A connection that a test speaks on by hand. */
async function raw(token = cluster.adminToken!, protocols: string[] = [subprotocol]) {
  const socket = new WebSocket(`${cluster.url.replace('https', 'wss')}${watchSocketPath}`, protocols, {
    ca: cluster.caCertificate,
    headers: {authorization: `Bearer ${token}`},
  });
  const heard: {action: string; id?: string; status?: {code: number; message: string}; lines: string[]}[] = [];
  let code: number | undefined;
  socket.on('message', (data: Buffer) => {
    const [head = '', ...lines] = data.toString().split('\n');
    heard.push({...JSON.parse(head), lines: lines.filter(Boolean)});
  });
  socket.on('close', (closeCode) => {
    code = closeCode;
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
  const say = (message: object): void => socket.send(JSON.stringify(message));
  return {socket, heard, say, closed: () => code};
}

const subscribe = (id: string, resource: string, more: object = {}) => ({
  action: 'subscribe',
  id,
  collection: {version: 'v1', resource, namespace: 'default'},
  resourceVersion: '1',
  ...more,
});

describe('the watch protocol at the gateway', () => {
  test('an informer over it has what is there, and hears of every change', async () => {
    await client.create(configMaps, configMap('one'));
    const told: string[] = [];
    const informer = client.informer<KubeObject>(
      {path: configMaps},
      {
        handlers: {
          added: ({metadata}) => told.push(`added ${metadata.name}`),
          updated: ({metadata, data}) => told.push(`updated ${metadata.name} ${JSON.stringify(data)}`),
          deleted: ({metadata}) => told.push(`deleted ${metadata.name}`),
        },
      },
    );
    await informer.synced;
    expect(informer.get('default/one')).toMatchObject({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'one'}});
    told.length = 0;
    await client.create(configMaps, configMap('two'));
    await client.patch(configMaps, 'two', 'application/merge-patch+json', {data: {a: 'b'}});
    await client.delete(configMaps, 'two');
    await until(() => told.length >= 3);
    expect(told).toEqual(['added two', 'updated two {"a":"b"}', 'deleted two']);
    informer.close();
  });

  test('an object of a megabyte arrives whole', async () => {
    const informer = client.informer({path: configMaps, fieldSelector: 'metadata.name=large'});
    await informer.synced;
    const text = 'Größe 漢字 😀 '.repeat(40_000);
    await client.create(configMaps, configMap('large', {text}));
    await until(() => informer.size === 1);
    expect(informer.get('default/large')!['data'].text).toBe(text);
    informer.close();
    await client.delete(configMaps, 'large');
  });

  test('an informer is exact through connections that break', async () => {
    const proxy = await breakingProxy(() => cluster.port);
    const other = await connect({credentials: credentials(cluster.adminToken!, `https://127.0.0.1:${proxy.port}`)});
    const versions = new Map<string, string[]>();
    const informer = other.informer(
      {path: configMaps, labelSelector: 'story=broken'},
      {
        handlers: {
          added: ({metadata}) => versions.set(metadata.name!, [metadata.resourceVersion!]),
          updated: ({metadata}) => versions.get(metadata.name!)!.push(metadata.resourceVersion!),
        },
      },
    );
    await informer.synced;
    const expected = new Map<string, string[]>();
    for (let at = 0; at < 60; at++) {
      const name = `broken-${at % 5}`;
      const labels = {story: 'broken', at: String(at)};
      const written =
        at < 5
          ? await client.create(configMaps, {metadata: {name, labels}})
          : await client.patch(configMaps, name, 'application/merge-patch+json', {metadata: {labels}});
      expected.set(name, [...(expected.get(name) ?? []), written.metadata.resourceVersion!]);
      if (at % 12 !== 11) continue;
      const before = proxy.connections();
      proxy.breakAll();
      // Twice with the next connection under way, or before there is one.
      if (at > 24) await until(() => proxy.connections() > before);
    }
    await until(() => [...versions.values()].flat().length === 60);
    expect(versions).toEqual(expected);
    expect(proxy.connections()).toBeGreaterThan(3);
    informer.close();
    other.close();
    proxy.close();
  });

  test('who may not watch hears so for the subscription, and can go on', async () => {
    const {say, heard, socket} = await raw('bob-token');
    say({action: 'hello'});
    say(subscribe('s1', 'secrets'));
    await until(() => heard.length >= 2);
    expect(heard[0]).toMatchObject({action: 'welcome', pingSeconds: 60});
    expect(heard[1]).toMatchObject({
      action: 'error',
      id: 's1',
      status: {
        code: 403,
        message: expect.stringContaining('User "bob" cannot watch resource "secrets" in API group "" in the namespace "default"'),
      },
    });
    socket.terminate();
  });

  test('what is asked for wrongly is refused in the words of the API', async () => {
    const {say, heard, socket} = await raw();
    say({action: 'hello'});
    say(subscribe('a', 'nonsense'));
    say(subscribe('b', 'pods', {fieldSelector: 'spec.nose=long'}));
    say(subscribe('c', 'pods', {accept: 'application/vnd.kubernetes.protobuf'}));
    await until(() => heard.length >= 4);
    expect(heard.map(({action, id, status}) => `${action} ${id ?? ''} ${status?.code ?? ''}`.trim())).toEqual([
      'welcome',
      'error a 404',
      'error b 400',
      'error c 406',
    ]);
    socket.terminate();
  });

  test('tables come with their columns', async () => {
    const {say, heard, socket} = await raw();
    const {metadata} = await client.list(configMaps);
    say({action: 'hello'});
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    say(subscribe('t', 'configmaps', {accept, resourceVersion: metadata.resourceVersion}));
    await until(() => heard.length >= 2);
    await client.create(configMaps, configMap('tabled'));
    await client.delete(configMaps, 'tabled');
    await until(() => heard.flatMap(({lines}) => lines).length >= 2);
    for (const line of heard.flatMap(({lines}) => lines)) {
      const {object} = JSON.parse(line);
      expect(object.columnDefinitions[0]).toMatchObject({name: 'Name'});
      expect(object.rows[0].cells[0]).toBe('tabled');
    }
    socket.terminate();
  });

  test.each([
    ['a token that is wrong', 'wrong', (socket: WebSocket) => socket.send('{"action":"hello"}'), 4401],
    ['binary', undefined, (socket: WebSocket) => socket.send(Buffer.from([1, 2, 3])), 4400],
    ['something else than JSON', undefined, (socket: WebSocket) => socket.send('hello'), 4400],
    ['a message that is too long', undefined, (socket: WebSocket) => socket.send('x'.repeat(100_000)), 1009],
    ['a subscription before its hello', undefined, (socket: WebSocket) => socket.send(JSON.stringify(subscribe('s', 'pods'))), 4401],
  ])('who sends %s is hung up on', async (_what, token, work, code) => {
    const {socket, closed} = await raw(token);
    work(socket);
    await until(() => closed() !== undefined);
    expect(closed()).toBe(code);
  });

  test('a handshake without the protocol is a request like any other, as is one for something else', async () => {
    for (const protocols of [[], ['v4.channel.k8s.io']]) {
      const {closed} = await raw(cluster.adminToken!, protocols);
      expect(closed()).toBe(1006);
    }
  });

  test('a server that goes says so', async () => {
    const fork = await cluster.fork();
    const socket = new WebSocket(`wss://127.0.0.1:${fork.port}${watchSocketPath}`, subprotocol, {ca: fork.caCertificate});
    const heard: string[] = [];
    socket.on('message', (data: Buffer) => heard.push(data.toString()));
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    await fork.close();
    expect(await closed).toBe(1001);
    expect(heard).toEqual(['{"action":"bye","code":1001,"reason":"the server goes"}']);
  });
});
