/** The proxy in front of a real cluster, as an HTTP client sees it: no different from the server itself. */

import {get, request} from 'node:http';
import {connect as connectTcp} from 'node:net';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {connect, type KubeClient} from '../../shared/client/node/connect.ts';
import type {Credentials} from '../../shared/client/node/credentials.ts';
import {type Cluster, startCluster} from '../library.ts';
import {refusal} from './guard.ts';
import {type LocalProxy, startProxy} from './proxy.ts';

let cluster: Cluster;
let proxy: LocalProxy;
let direct: KubeClient;
let through: KubeClient;
const configMaps = {groupVersion: 'v1', resource: 'configmaps', namespace: 'default'};
const path = '/api/v1/namespaces/default/configmaps';

const credentials = (server: string, present: Credentials['present'] = async () => ({}), ca?: string): Credentials => ({
  server,
  namespace: 'default',
  present,
  ...(ca !== undefined && {ca}),
});

beforeAll(async () => {
  cluster = await startCluster({inMemory: true, staticTokens: new Map([['bob-token', {name: 'bob', groups: ['system:authenticated']}]])});
  const admin = credentials(cluster.url, async () => ({authorization: `Bearer ${cluster.adminToken}`}), cluster.caCertificate);
  proxy = await startProxy({credentials: admin, host: '127.0.0.1', port: 0});
  direct = await connect({credentials: admin, watches: 'http'});
  through = await connect({credentials: credentials(proxy.url)});
}, 30_000);

afterAll(async () => {
  direct.close();
  through.close();
  await proxy.close();
  await cluster.close({graceMs: 0});
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

interface Heard {
  status: number;
  type: string;
  lines: () => {type: string; object: {kind: string; metadata: {name?: string; annotations?: object}; columnDefinitions?: unknown}}[];
  ended: () => boolean;
  hangUp(): void;
}

function watch(query: string, headers: Record<string, string> = {}): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const call = get(`${proxy.url}${path}?watch=1&${query}`, {headers, agent: false}, (response) => {
      let text = '';
      let ended = false;
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('close', () => {
        ended = true;
      });
      resolve({
        status: response.statusCode!,
        type: response.headers['content-type']!,
        lines: () =>
          text
            .split('\n')
            .slice(0, -1)
            .map((line) => JSON.parse(line)),
        ended: () => ended,
        hangUp: () => call.destroy(),
      });
    });
    call.on('error', reject);
  });
}

const head = async () => (await direct.list(configMaps)).metadata.resourceVersion;
const make = (name: string, labels: Record<string, string> = {}) => direct.create(configMaps, {metadata: {name, labels}});

describe('a proxy', () => {
  test('passes requests on with the rights of its user, and answers as they come', async () => {
    expect(await proxy.look()).toBe('WebSocket');
    await through.create(configMaps, {metadata: {name: 'passed'}, data: {text: 'ä'.repeat(300_000)}});
    expect((await through.get(configMaps, 'passed'))['data'].text.length).toBe(300_000);
    await through.delete(configMaps, 'passed');
    await expect(through.get(configMaps, 'passed')).rejects.toMatchObject({status: {code: 404, message: 'configmaps "passed" not found'}});
  });

  test('carries a watch, and only what was asked for', async () => {
    const watching = await watch(`resourceVersion=${await head()}&labelSelector=a%3Db`);
    expect([watching.status, watching.type, proxy.carried]).toEqual([200, 'application/json', 1]);
    await make('one', {a: 'b'});
    await make('two');
    await direct.delete(configMaps, 'one');
    await direct.delete(configMaps, 'two');
    await until(() => watching.lines().length >= 2);
    expect(watching.lines().map(({type, object}) => `${type} ${object.kind} ${object.metadata.name}`)).toEqual([
      'ADDED ConfigMap one',
      'DELETED ConfigMap one',
    ]);
    watching.hangUp();
    await until(() => proxy.carried === 0);
  });

  test.each([
    ['a watch from nothing', 'labelSelector=state%3Dyes', ['ADDED s1']],
    ['a watch from 0', 'resourceVersion=0&labelSelector=state%3Dyes', ['ADDED s1']],
    [
      'a list that is streamed',
      'labelSelector=state%3Dyes&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
      ['ADDED s1', 'BOOKMARK end'],
    ],
    ['a watch from now', 'labelSelector=state%3Dyes&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', []],
  ])('%s begins as on the server', async (_what, query, expected) => {
    await make('s1', {state: 'yes'});
    const watching = await watch(query);
    const later = make('s2', {state: 'yes'});
    await until(() => watching.lines().length > expected.length);
    await later;
    const seen = watching.lines().map(({type, object}) => `${type} ${object.metadata.name ?? (object.metadata.annotations ? 'end' : '')}`);
    expect(seen).toEqual([...expected, 'ADDED s2']);
    expect(proxy.carried).toBe(1);
    watching.hangUp();
    await direct.delete(configMaps, 's1');
    await direct.delete(configMaps, 's2');
    await until(() => proxy.carried === 0);
  });

  test('ends a watch in time, with a bookmark of how far it got', async () => {
    const watching = await watch(
      `resourceVersion=${await head()}&timeoutSeconds=1&allowWatchBookmarks=1&fieldSelector=metadata.name%3Dnobody`,
    );
    await until(() => watching.ended());
    expect(watching.lines().every(({type}) => type === 'BOOKMARK')).toBe(true);
    expect(proxy.carried).toBe(0);
  });

  test('gives only the first table its columns', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const watching = await watch(`resourceVersion=${await head()}`, {accept});
    await make('t1');
    await direct.delete(configMaps, 't1');
    await until(() => watching.lines().length >= 2);
    expect(watching.lines().map(({object}) => object.columnDefinitions === null)).toEqual([false, true]);
    watching.hangUp();
  });

  test('has metadata alone for who wants no more', async () => {
    const accept =
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    await make('m1');
    const watching = await watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', {accept});
    await until(() => watching.lines().some(({type}) => type === 'BOOKMARK'));
    expect(new Set(watching.lines().map(({object}) => object.kind))).toEqual(new Set(['PartialObjectMetadata']));
    watching.hangUp();
    await direct.delete(configMaps, 'm1');
  });

  test('says what is wrong with a watch as the server would', async () => {
    const answer = async (query: string, headers = {}) => {
      const heard = await watch(query, headers);
      await until(() => heard.ended());
      return [heard.status, ...heard.lines().map(({type, object}) => type ?? object)];
    };
    expect(await answer('resourceVersion=abc')).toEqual([400, undefined]);
    expect(await answer('resourceVersion=1&fieldSelector=spec.x%3Dy')).toEqual([400, undefined]);
    // Somebody else's credential is theirs, and so is the watch.
    expect(await answer('resourceVersion=1', {authorization: 'Bearer bob-token'})).toEqual([403, undefined]);
    expect(await answer('resourceVersion=1', {'impersonate-user': 'bob'})).toEqual([403, undefined]);
  });

  test('lets an upgrade through, head and bytes', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connectTcp(Number(new URL(proxy.url).port), '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      const lines = [
        `POST ${path.replace('configmaps', 'pods')}/nobody/exec?command=ls&stdout=1 HTTP/1.1`,
        `Host: ${new URL(proxy.url).host}`,
        'Connection: Upgrade',
        'Upgrade: SPDY/3.1',
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      setTimeout(() => socket.end(), 300);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(answer).toContain('pods \\"nobody\\" not found');
  });

  test('says when the server cannot be reached, and that nothing has happened', async () => {
    const lonely = await startProxy({credentials: credentials('https://127.0.0.1:1'), host: '127.0.0.1', port: 0});
    const answer = await new Promise<{status: number; retry: string | undefined}>((resolve) => {
      request(`${lonely.url}/api`, {agent: false}, (response) => {
        response.resume();
        resolve({status: response.statusCode!, retry: response.headers['retry-after']});
      }).end();
    });
    expect(answer).toEqual({status: 503, retry: '1'});
    await lonely.close();
  });
});

test('pages of browsers may not use what the proxy lends', () => {
  expect(refusal({host: 'localhost:8001'}, '127.0.0.1')).toBeUndefined();
  expect(refusal({host: '[::1]:8001', origin: 'http://[::1]:8001'}, '::1')).toBeUndefined();
  expect(refusal({host: '10.1.2.3:8001'}, '10.1.2.3')).toBeUndefined();
  expect(refusal({host: 'rebound.example:8001'}, '127.0.0.1')).toMatch(/answers to localhost/);
  expect(refusal({}, '127.0.0.1')).toMatch(/answers to localhost/);
  expect(refusal({host: '127.0.0.1:8001', origin: 'https://evil.example'}, '127.0.0.1')).toMatch(/may not use/);
});
