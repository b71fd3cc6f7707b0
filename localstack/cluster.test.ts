import {mkdtemp, readFile, rm, stat} from 'node:fs/promises';
import {request} from 'node:https';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import type {Api, ApiOptions} from '../shared/api.ts';
import {openEmbedded, openMemory} from '../shared/storage/embedded/open.ts';
import {type Cluster, firstServiceIp, type Parts, startClusterFrom} from './cluster.ts';
import {parseListen, urlOf} from './listen.ts';

/** An API that says what it was made with, and counts its objects through the store. */
function fakeApi(options: ApiOptions): Api {
  const events: string[] = [];
  return {
    async handle(request) {
      if (request.method === 'POST') {
        const image = Buffer.from(request.body!);
        await options.store.append({
          type: 'things',
          key: request.path.slice(1),
          expected: 'absent',
          operation: 'put',
          encode: () => image,
          index: {},
        });
      }
      const {items} = await options.store.scan('things', {prefix: ''});
      const body = {events, advertise: options.advertise, keys: items.map(({key}) => key), token: request.headers['authorization']};
      return {status: 200, headers: {'content-type': 'application/json'}, body: Buffer.from(JSON.stringify(body))};
    },
    authenticate: async () => ({name: 'somebody', groups: []}),
    start: async () => void events.push('start'),
    drain: () => void events.push('drain'),
    close: async () => void events.push('close'),
    client: undefined as unknown as Api['client'],
    store: options.store,
  };
}
const parts: Parts = {createApi: fakeApi, openEmbedded, openMemory, openDynamo: () => Promise.reject(new Error('not here'))};

interface Answer {
  events: string[];
  keys: string[];
  advertise: {address: string; port: number};
}

/** As a client would that has nothing but the kubeconfig. */
function ask(cluster: Cluster, method: string, path: string, body?: string): Promise<Answer> {
  const {clusters, users} = parse(cluster.kubeconfig);
  const pem = (text: string): Buffer => Buffer.from(text, 'base64');
  return new Promise((resolve, reject) => {
    const call = request(
      `${clusters[0].cluster.server}${path}`,
      {
        method,
        agent: false,
        ca: pem(clusters[0].cluster['certificate-authority-data']),
        cert: pem(users[0].user['client-certificate-data']),
        key: pem(users[0].user['client-key-data']),
      },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve(JSON.parse(text)));
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

let data: string;
const open: Cluster[] = [];
const start = async (options: Parameters<typeof startClusterFrom>[1]): Promise<Cluster> => {
  const cluster = await startClusterFrom(parts, options);
  open.push(cluster);
  return cluster;
};
beforeEach(async () => {
  data = join(await mkdtemp(join(tmpdir(), 'cluster-')), 'data');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((cluster) => cluster.close()));
  await rm(join(data, '..'), {recursive: true, force: true});
});

describe('a cluster on disk', () => {
  test('comes back with its content, its certificates, and a kubeconfig that works', async () => {
    const first = await start({data});
    await ask(first, 'POST', '/a', '{}');
    await first.close();
    const second = await start({data});
    expect((await ask(second, 'GET', '/')).keys).toEqual(['a']);
    expect(second.caCertificate).toBe(first.caCertificate);
    expect(await readFile(join(data, 'kubeconfig'), 'utf8')).toBe(second.kubeconfig);
    expect(((await stat(join(data, 'kubeconfig'))).mode & 0o777).toString(8)).toBe('600');
  });

  test('is held by one server at a time', async () => {
    await start({data});
    await expect(start({data})).rejects.toMatchObject({code: 'InUse'});
  });

  test('lets go of everything when the port is taken', async () => {
    const first = await start({inMemory: true});
    await expect(start({data, listen: `127.0.0.1:${first.port}`})).rejects.toMatchObject({code: 'EADDRINUSE'});
    await start({data});
  });
});

describe('a cluster in memory', () => {
  test('leaves no trace on disk', async () => {
    await start({inMemory: true, data});
    await expect(stat(data)).rejects.toThrow('ENOENT');
  });

  test('publishes no loopback address', async () => {
    const {advertise} = await ask(await start({inMemory: true}), 'GET', '/');
    expect(advertise.address).not.toMatch(/^127\./);
  });

  test('a fork has the content of its origin, and a life of its own', async () => {
    const origin = await start({inMemory: true});
    await ask(origin, 'POST', '/a', '{}');
    const fork = await origin.fork();
    open.push(fork);
    await ask(origin, 'POST', '/b', '{}');
    await ask(fork, 'POST', '/c', '{}');
    expect((await ask(origin, 'GET', '/')).keys).toEqual(['a', 'b']);
    expect((await ask(fork, 'GET', '/')).keys).toEqual(['a', 'c']);
    await origin.close();
    expect((await ask(fork, 'GET', '/')).keys).toEqual(['a', 'c']);
  });

  test('closes once, however often it is told to', async () => {
    const cluster = await start({inMemory: true});
    await Promise.all([cluster.close(), cluster.close()]);
    await expect(ask(cluster, 'GET', '/')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('addresses', () => {
  test.each([
    ['127.0.0.1:6443', 'https://127.0.0.1:6443'],
    ['[::1]:6443', 'https://[::1]:6443'],
    [':6443', 'https://127.0.0.1:6443'],
    ['0.0.0.0:80', 'https://127.0.0.1:80'],
    ['[::]:80', 'https://[::1]:80'],
    ['localhost:1', 'https://localhost:1'],
  ])('--listen %s is reached at %s', (listen, url) => expect(urlOf(parseListen(listen))).toBe(url));

  test.each(['6443', 'a', '127.0.0.1:70000', '::1:6443', ''])('--listen %s is refused', (listen) =>
    expect(() => parseListen(listen)).toThrow('ADDRESS:PORT'));

  test.each([
    ['10.0.0.0/24', '10.0.0.1'],
    ['10.96.0.0/12,fd00::/108', '10.96.0.1'],
    ['fd00::/108', 'fd00::1'],
  ])('the first service of %s is %s', (range, address) => expect(firstServiceIp(range)).toBe(address));
});
