/** A process with the environment and the files of a pod, in front of real and strange API servers. */
import {once} from 'node:events';
import {mkdir, writeFile} from 'node:fs/promises';
import {createServer, type IncomingMessage} from 'node:http';
import {createServer as createTlsServer, request as tlsRequest} from 'node:https';
import {type AddressInfo, connect as connectTcp, type Server} from 'node:net';
import {join} from 'node:path';
import {connect as connectTls} from 'node:tls';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {subprotocol} from '../../shared/changes/protocol/messages.ts';
import {connect} from '../../shared/client/node/connect.ts';
import {podCredentials} from '../../shared/client/node/credentials.ts';
import {HttpConnection} from '../../shared/client/node/http-connection.ts';
import {forward} from '../../shared/client/node/relay/forward.ts';
import {ManualClock, systemClock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import type {ServerAccess} from '../api/clusterconfig.ts';
import {scratch} from '../testing.ts';
import {proxyCertificates} from './certificates.ts';
import {PodApi, type PodApiOptions} from './pod-api.ts';
import {PodProxy} from './proxy.ts';

const said: string[] = [];
const log = {debug: () => {}, info: () => {}, warn: (text: string) => said.push(text), error: (text: string) => said.push(text)};
const open: PodApi[] = [];

async function podApi(access: ServerAccess, more: Partial<PodApiOptions> = {}): Promise<PodApi> {
  const api = new PodApi({
    access,
    mode: 'auto',
    port: 0,
    folder: await scratch('pod-api-'),
    hostIps: ['127.0.0.1'],
    moreAddresses: async () => [],
    podIps: () => [],
    clock: systemClock,
    log,
    ...more,
  });
  open.push(api);
  await api.ready;
  return api;
}

const rootCa = (pem: string): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {name: 'kube-root-ca.crt'},
  data: {'ca.crt': pem},
});
const published = (clusterIP: string, port: number): KubeObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: {name: 'kubernetes'},
  spec: {clusterIP, ports: [{name: 'https', port}]},
});

/** What a container gets, as files and variables. */
async function podFiles(api: PodApi, token: string, pem: string): Promise<{env: Record<string, string>; folder: string; ca: string}> {
  const folder = await scratch('pod-');
  const ca = (await api.configMap('kube-root-ca.crt', rootCa(pem)))!.data['ca.crt'] as string;
  await mkdir(folder, {recursive: true});
  await writeFile(join(folder, 'ca.crt'), ca);
  await writeFile(join(folder, 'token'), token);
  await writeFile(join(folder, 'namespace'), 'default');
  const {spec} = (await api.service(undefined))!;
  return {env: {KUBERNETES_SERVICE_HOST: spec.clusterIP, KUBERNETES_SERVICE_PORT: String(spec.ports[0].port)}, folder, ca};
}

afterAll(() => {
  for (const api of open) api.stop();
});

describe('in front of a cluster on this machine', () => {
  let cluster: Cluster;
  let access: ServerAccess;
  let token: string;

  beforeAll(async () => {
    cluster = await startCluster({inMemory: true});
    // The node's own credential is there, and must not be shown.
    access = {url: new URL(cluster.url), ca: cluster.caCertificate, insecure: false};
    const admin = await connect({
      credentials: {
        server: cluster.url,
        ca: cluster.caCertificate,
        namespace: 'default',
        present: async () => ({authorization: `Bearer ${cluster.adminToken}`}),
      },
    });
    await admin.create({groupVersion: 'v1', resource: 'serviceaccounts', namespace: 'default'}, {
      kind: 'ServiceAccount',
      apiVersion: 'v1',
      metadata: {name: 'robot', namespace: 'default'},
    } as KubeObject);
    await admin.create({groupVersion: 'rbac.authorization.k8s.io/v1', resource: 'rolebindings', namespace: 'default'}, {
      kind: 'RoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: {name: 'robot', namespace: 'default'},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit'},
      subjects: [{kind: 'ServiceAccount', name: 'robot', namespace: 'default'}],
    } as unknown as KubeObject);
    const reply = await admin.connection.send({
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts/robot/token',
      headers: {'content-type': 'application/json'},
      body: Buffer.from(JSON.stringify({kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {}})),
    });
    let text = '';
    for await (const chunk of reply.body) text += Buffer.from(chunk).toString();
    token = JSON.parse(text).status.token;
    admin.close();
  }, 30_000);

  afterAll(() => cluster.close({graceMs: 0}));

  test('a client that knows host, port, ca.crt and its token works, watches too, with the rights of its own', async () => {
    const api = await podApi(access);
    const {env, folder} = await podFiles(api, token, cluster.caCertificate);
    const before = {...process.env};
    Object.assign(process.env, env);
    const credentials = await podCredentials(folder);
    const client = await connect({credentials: credentials!});
    process.env = before;
    const configMaps = {groupVersion: 'v1', resource: 'configmaps', namespace: 'default'};
    const seen: string[] = [];
    const informer = client.informer({path: configMaps}, {handlers: {added: ({metadata}) => void seen.push(metadata.name!)}});
    await informer.synced;
    await client.create(configMaps, {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'from-a-pod'}} as KubeObject);
    await expect.poll(() => seen, {timeout: 20_000}).toContain('from-a-pod');
    await expect(client.list({groupVersion: 'v1', resource: 'nodes'})).rejects.toThrow(
      /serviceaccount:default:robot.*cannot list resource "nodes"/,
    );
    client.close();
  });

  const ask = async (api: PodApi, path: string, headers: Record<string, string> = {}, ca?: string) => {
    const {host, port} = api.proxyAddress!;
    const trusted = ca ?? (await api.configMap('kube-root-ca.crt', rootCa('')))!.data['ca.crt'];
    return new Promise<{status: number; text: string}>((resolve, reject) => {
      const call = tlsRequest({host, port, path, headers, ca: trusted, agent: false}, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({status: response.statusCode!, text}));
      });
      call.on('error', reject);
      call.end();
    });
  };

  test('who shows nothing is nobody: the node lends nothing', async () => {
    const api = await podApi(access);
    const {status, text} = await ask(api, '/api/v1/pods');
    expect([status, text]).toEqual([403, expect.stringContaining('system:anonymous')]);
    const wrong = await ask(api, '/api/v1/pods', {authorization: 'Bearer nonsense'});
    expect(wrong.status).toBe(401);
    const named = await ask(api, '/api/v1/pods', {'x-remote-user': 'system:admin', 'x-remote-group': 'system:masters'});
    expect(named.status).toBe(403);
  });

  test('it is verified by the CA in ca.crt, which holds the cluster’s as well', async () => {
    const api = await podApi(access);
    const {ca} = await podFiles(api, token, cluster.caCertificate);
    expect(ca.startsWith(cluster.caCertificate)).toBe(true);
    expect(ca.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    await expect(ask(api, '/version', {}, cluster.caCertificate)).rejects.toThrow(/certificate|issuer/);
    expect((await ask(api, '/version', {}, ca)).status).toBe(200);
    expect(await api.configMap('another', rootCa('x'))).toEqual(rootCa('x'));
  });

  test('an upgrade passes, head and bytes', async () => {
    const api = await podApi(access);
    const {ca} = await podFiles(api, token, cluster.caCertificate);
    const {host, port} = api.proxyAddress!;
    const answer = await new Promise<string>((resolve) => {
      const socket = connectTls({host, port, ca}, () => {
        const lines = [
          'POST /api/v1/namespaces/default/pods/nobody/exec?command=ls&stdout=1 HTTP/1.1',
          `Host: ${host}:${port}`,
          `Authorization: Bearer ${token}`,
          'Connection: Upgrade',
          'Upgrade: SPDY/3.1',
        ];
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      });
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
        if (text.includes('}\n')) socket.end();
      });
      socket.on('close', () => resolve(text));
      socket.on('error', () => {});
    });
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(answer).toContain('pods \\"nobody\\" not found');
  });

  test('where the WebSocket is elsewhere, the watches of one token share one', async () => {
    const {port} = new URL(cluster.url);
    const own = await proxyCertificates(await scratch('front-'), ['127.0.0.1'], Date.now());
    const toCluster = new HttpConnection({server: cluster.url, ca: cluster.caCertificate, namespace: '', present: async () => ({})});
    let watches = 0;
    // As a gateway that takes requests and nothing else: the WebSocket has another host.
    const front = createTlsServer(own, (request, response) => {
      if (/[?&]watch=/.test(request.url!)) watches++;
      if (request.url === '/version') response.setHeader('watch-socket', `wss://localhost:${port}/watch-socket ${subprotocol}`);
      void forward(toCluster, request, response);
    });
    await new Promise<void>((done) => front.listen(0, '127.0.0.1', done));
    const url = new URL(`https://127.0.0.1:${(front.address() as AddressInfo).port}`);
    const proxy = new PodProxy({
      access: {url, ca: `${own.ca}${cluster.caCertificate}`, insecure: false},
      certificate: own,
      serves: () => true,
      clock: systemClock,
    });
    const server = `https://127.0.0.1:${await proxy.listen('127.0.0.1', 0)}`;
    const clientOf = (bearer: string) =>
      connect({
        credentials: {server, ca: own.ca, namespace: 'default', present: async () => ({authorization: `Bearer ${bearer}`})},
        watches: 'http',
      });
    const [robot, admin] = await Promise.all([clientOf(token), clientOf(cluster.adminToken!)]);
    const seen: string[] = [];
    const note = (prefix: string) => ({added: ({metadata}: KubeObject) => void seen.push(`${prefix} ${metadata.name}`)});
    const path = {groupVersion: 'v1', resource: 'configmaps', namespace: 'default'};
    const informers = [
      robot.informer({path}, {handlers: note('robot')}),
      robot.informer({path: {...path, resource: 'secrets'}}, {handlers: note('robot')}),
      admin.informer({path}, {handlers: note('admin')}),
    ];
    await Promise.all(informers.map(({synced}) => synced));
    await expect.poll(() => proxy.carried, {timeout: 20_000}).toEqual({bearers: 2, watches: 3});
    await robot.create(path, {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name: 'carried'}});
    await robot.create({...path, resource: 'secrets'}, {kind: 'Secret', apiVersion: 'v1', metadata: {name: 'carried'}});
    await expect
      .poll(() => seen.filter((text) => text.endsWith(' carried')).sort())
      .toEqual(['admin carried', 'robot carried', 'robot carried']);
    expect(watches).toBe(0);
    // What a token may not see, its WebSocket does not show either.
    const refused = await new Promise<number>((resolve, reject) => {
      const headers = {authorization: `Bearer ${token}`};
      const call = tlsRequest(`${server}/api/v1/nodes?watch=1&resourceVersion=1`, {headers, ca: own.ca, agent: false}, (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      call.on('error', reject);
      call.end();
    });
    expect(refused).toBe(403);
    robot.close();
    admin.close();
    proxy.close();
    toCluster.close();
    front.closeAllConnections();
    front.close();
  });

  test('it is there for the pods of its node', async () => {
    const [certificate, ca] = [await proxyCertificates(await scratch('pod-api-'), ['127.0.0.1'], Date.now()), cluster.caCertificate];
    const addresses = new Set(['10.9.0.7']);
    const proxy = new PodProxy({
      access: {...access, ca},
      certificate,
      serves: (address) => addresses.has(address),
      clock: systemClock,
    });
    const at = {proxyAddress: {host: '127.0.0.1', port: await proxy.listen('127.0.0.1', 0)}} as PodApi;
    expect(await ask(at, '/version', {}, certificate.ca)).toMatchObject({status: 403, text: expect.stringContaining('not for 127.0.0.1')});
    addresses.add('127.0.0.1');
    expect((await ask(at, '/version', {}, certificate.ca)).status).toBe(200);
    proxy.close();
  });

  test('it comes back on the port that pods know', async () => {
    const folder = await scratch('pod-api-');
    const first = await podApi(access, {folder});
    const address = first.proxyAddress!;
    first.stop();
    const second = await podApi(access, {folder});
    expect(second.proxyAddress).toEqual(address);
    // Another agent's is another one, also when it begins with the same wish.
    const other = await podApi(access);
    expect(other.proxyAddress!.port).not.toBe(address.port);
    second.stop();
  });

  test('while somebody else has its port it waits for that, and for no other', async () => {
    const folder = await scratch('pod-api-');
    const first = await podApi(access, {folder});
    const address = first.proxyAddress!;
    first.stop();
    const thief = createServer().listen(address.port, address.host);
    await once(thief, 'listening');
    const clock = new ManualClock();
    const second = await podApi(access, {folder, clock});
    expect(said.at(-1)).toContain('cannot reach the API yet');
    expect((await second.service(undefined))!.spec.ports[0].port).toBe(address.port);
    thief.close();
    await once(thief, 'close');
    clock.advance(5_000);
    await expect.poll(async () => (await ask(second, '/version').catch(() => ({status: 0}))).status, {timeout: 15_000}).toBe(200);
  });

  test('the service’s own address comes first where it leads to the API', async () => {
    const api = await podApi(access);
    const port = Number(new URL(cluster.url).port);
    expect((await api.service(published('127.0.0.1', port)))!.spec.ports[0].port).toBe(port);
    const elsewhere = await api.service(published('127.0.0.1', 1));
    expect(elsewhere!.spec.ports[0].port).toBe(api.proxyAddress!.port);
    expect((await podApi(access, {mode: 'service'})).proxyAddress).toBeUndefined();
    const direct = await podApi({...access, url: new URL('https://10.1.2.3:6443')}, {mode: 'direct'});
    expect((await direct.service(published('10.0.0.1', 443)))!.spec.clusterIP).toBe('10.1.2.3');
  });
});

describe('in front of a server with a path', () => {
  let server: Server;
  let asked: IncomingMessage[];
  let access: ServerAccess;

  beforeAll(async () => {
    asked = [];
    const http = createServer((request, response) => {
      asked.push(request);
      response.end(JSON.stringify({path: request.url}));
    });
    server = http;
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    access = {
      url: new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/prod`),
      insecure: false,
    };
  });

  afterAll(() => void server.close());

  const raw = async (api: PodApi, target: string): Promise<string> => {
    const {host, port} = api.proxyAddress!;
    const ca = (await api.configMap('kube-root-ca.crt', rootCa('')))!.data['ca.crt'];
    return new Promise((resolve) => {
      const socket = connectTls({host, port, ca}, () => socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', () => {});
    });
  };

  test('pods know no path: it is put before theirs, and nothing leads out of it or elsewhere', async () => {
    const api = await podApi(access);
    expect(await raw(api, '/api/v1/pods?limit=1')).toContain('"/prod/api/v1/pods?limit=1"');
    expect(asked.at(-1)!.headers.authorization).toBeUndefined();
    const reached = asked.length;
    for (const target of ['/../other/x', '/api/%2e%2e/%2E./x', '/a/..', 'http://elsewhere.example/x', '/a\\..\\..\\x'])
      expect(await raw(api, target), target).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked).toHaveLength(reached);
    expect(await raw(api, '//elsewhere.example/x')).toContain('"/prod//elsewhere.example/x"');
  });
});

test('plain bytes on the port are no request', async () => {
  const api = await podApi({url: new URL('http://127.0.0.1:1'), insecure: false});
  const {host, port} = api.proxyAddress!;
  const answer = await new Promise<string>((resolve) => {
    const socket = connectTcp({host, port}, () => socket.write('GET / HTTP/1.1\r\n\r\n'));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', () => {});
  });
  expect(answer).not.toMatch(/HTTP\/1\.1 2/);
});
