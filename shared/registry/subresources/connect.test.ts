import {createServer, type Server} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {TestApi} from '../../../test/api.ts';
import {serviceUnavailable} from '../../errors.ts';
import type {ApiRequest, ApiResponse} from '../../http/messages.ts';
import type {Destination, NodeRoads} from '../../nodes/roads.ts';

/** One HTTP server at the end of every road, which tells what it was asked. */
let server: Server;
let api: TestApi;
const dialled: [node: string | undefined, to: Destination][] = [];
const roads: NodeRoads = {
  async dial(node, to) {
    dialled.push([node?.metadata.name, to]);
    if (node?.metadata.name === 'dark') throw serviceUnavailable('dial tcp 192.0.2.9:10250: connect: connection refused');
    return connect((server.address() as AddressInfo).port, '127.0.0.1');
  },
};
const core = '/api/v1/namespaces/default';
const pods = `${core}/pods`;
const spdy = {connection: 'Upgrade', upgrade: 'SPDY/3.1'};

beforeAll(async () => {
  server = createServer((request, response) => {
    const say = (status: number, text: string, headers: Record<string, string> = {}) => response.writeHead(status, headers).end(text);
    const url = request.url!;
    if (url.startsWith('/containerLogs/default/waiting'))
      return say(400, 'container "c" in pod "waiting" is waiting to start: ContainerCreating');
    if (url.startsWith('/containerLogs/default/lost')) return say(404, 'no such file');
    if (url.startsWith('/containerLogs/default/ill')) return say(500, 'disk on fire');
    if (url === '/moved') return say(302, '', {location: '/there/'});
    if (url === '/page')
      return say(200, '<a href="/x">', {'content-type': 'text/html', 'cache-control': 'max-age=60', 'access-control-allow-origin': '*'});
    return say(200, JSON.stringify({method: request.method, url, headers: request.headers}), {'content-type': 'text/plain'});
  });
  server.on('upgrade', (request, socket) => {
    if (request.url!.startsWith('/exec/default/lost')) return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone');
    const asked = JSON.stringify({url: request.url, headers: request.headers, lines: request.rawHeaders});
    return socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n${asked}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = await TestApi.start({nodes: roads});
  for (const name of ['bright', 'dark']) {
    await api.post('/api/v1/nodes', {metadata: {name}});
    const status = {addresses: [{type: 'InternalIP', address: '192.0.2.9'}], daemonEndpoints: {kubeletEndpoint: {Port: 10250}}};
    await merge(`/api/v1/nodes/${name}/status`, {status});
  }
  for (const name of ['web', 'waiting', 'lost', 'ill']) await pod(name, 'bright');
  await pod('far', 'dark');
  await pod('unbound', '');
  await pod('nodeless', 'gone');
  await pod('looped', 'bright', {podIPs: [{ip: '127.0.0.1'}]});
  const containers = ['a', 'b'].map((name) => ({name, image: 'x'}));
  await pod('two', 'bright', {}, {containers, initContainers: [{name: 'i', image: 'x'}]});
  const endpoint = (name: string, ip: string) => ({ip, targetRef: {kind: 'Pod', namespace: 'default', name}});
  await service('web', [{name: 'http', port: 80}], [{addresses: [endpoint('web', '10.1.0.7')], ports: [{name: 'http', port: 8080}]}]);
  await service('forged', [{port: 80}], [{addresses: [endpoint('web', '10.1.0.8')], ports: [{port: 8080}]}]);
  await service('byhand', [{port: 80}], [{addresses: [{ip: '10.1.0.7'}], ports: [{port: 8080}]}]);
  await service('nobody', [{port: 80}]);
  await api.post(`${core}/services`, {metadata: {name: 'sliced'}, spec: {ports: [{name: 'http', port: 80}]}});
  await api.post('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: {name: 'sliced-1', labels: {'kubernetes.io/service-name': 'sliced'}},
    addressType: 'IPv4',
    ports: [{name: 'http', port: 8081}],
    endpoints: [
      {addresses: ['10.1.0.9'], conditions: {ready: false}, targetRef: {kind: 'Pod', namespace: 'default', name: 'web'}},
      {addresses: ['10.1.0.7'], targetRef: {kind: 'Pod', namespace: 'default', name: 'web'}},
    ],
  });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await api.close();
});

const merge = (url: string, body: object) => api.ask('PATCH', url, body, {'content-type': 'application/merge-patch+json'});

async function pod(name: string, nodeName: string, status: object = {podIPs: [{ip: '10.1.0.7'}]}, spec: object = {}): Promise<void> {
  const containers = [{name: 'c', image: 'x', ports: [{containerPort: 8080}]}];
  await api.post(pods, {metadata: {name}, spec: {containers, ...(nodeName && {nodeName}), ...spec}});
  const {podIPs} = status as {podIPs?: {ip: string}[]};
  await merge(`${pods}/${name}/status`, {status: {...status, ...(podIPs && {podIP: podIPs[0]!.ip})}});
}

async function service(name: string, ports: object[], subsets?: object[]): Promise<void> {
  await api.post(`${core}/services`, {metadata: {name}, spec: {ports}});
  await api.post(`${core}/endpoints`, {metadata: {name}, ...(subsets && {subsets})});
}

async function textOf(body: ApiResponse['body']): Promise<string> {
  if (body === undefined || body instanceof Uint8Array) return Buffer.from(body ?? []).toString();
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function ask(method: string, url: string, headers: Record<string, string> = {}, more: Partial<ApiRequest> = {}) {
  dialled.length = 0;
  const response = await api.send(method, url, undefined, headers, more);
  const text = response.upgrade ? String((await response.upgrade[Symbol.asyncIterator]().next()).value) : await textOf(response.body);
  response.upgrade?.destroy();
  return {...response, text, json: () => JSON.parse(text)};
}

const upgrade = (method: string, url: string, headers: Record<string, string> = {}) =>
  ask(method, url, {...spdy, ...headers}, {upgrade: true});

describe('what is refused before anybody is dialled', () => {
  test.each([
    ['GET', `${pods}/absent/log`, 404, 'pods "absent" not found'],
    ['GET', `${pods}/web/log?container=nope`, 400, 'container nope is not valid for pod web'],
    ['GET', `${pods}/two/log`, 400, 'a container name must be specified for pod two, choose one of: [i a b]'],
    [
      'GET',
      `${pods}/web/log?tailLines=-1`,
      422,
      'PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'GET',
      `${pods}/web/log?sinceTime=2024-01-02T03:04:05Z&sinceSeconds=1`,
      422,
      'PodLogOptions "web" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['GET', `${pods}/web/log?stream=Stdout`, 422, 'PodLogOptions "web" is invalid: stream: Forbidden: may not be specified'],
    ['GET', `${pods}/web/log?sinceTime=nope`, 400, 'parsing time "nope" as "2006-01-02T15:04:05Z07:00": cannot parse "nope" as "2006"'],
    ['POST', `${pods}/web/log`, 405, 'the server does not allow this method on the requested resource'],
    ['GET', `${pods}/nodeless/log`, 404, 'nodes "gone" not found'],
    ['POST', `${pods}/web/exec?command=ls&stdout=1`, 400, 'Upgrade request required'],
    ['POST', `${pods}/web/exec?command=ls&dryRun=All`, 400, 'dryRun is not supported'],
    ['POST', `${pods}/two/attach`, 400, 'a container name must be specified for pod two, choose one of: [i a b]'],
    ['POST', `${pods}/unbound/exec?command=ls`, 400, 'pod unbound does not have a host assigned'],
    ['POST', `${pods}/unbound/portforward?ports=80`, 400, 'pod unbound does not have a host assigned'],
    ['GET', `${pods}/looped/proxy/x`, 400, 'address not allowed'],
    ['GET', `${pods}/ftp:web:21/proxy/x`, 400, 'invalid pod request "ftp:web:21"'],
    ['GET', `${pods}/web:gopher/proxy/x`, 503, 'error trying to reach service: dial tcp: lookup tcp/gopher: unknown port'],
    ['GET', `${pods}/web/proxy/x?dryRun=All`, 400, 'dryRun is not supported'],
    ['GET', `${core}/services/web/proxy/x`, 503, 'no endpoints available for service "web"'],
    ['GET', `${core}/services/web:81/proxy/x`, 503, 'no service port 81 found for service "web"'],
    ['GET', `${core}/services/nobody/proxy/x`, 503, 'no endpoints available for service "nobody"'],
    ['GET', `${core}/services/forged/proxy/x`, 503, 'no endpoints available for service "forged"'],
    ['GET', `${core}/services/byhand/proxy/x`, 503, 'no endpoints available for service "byhand"'],
    ['GET', `${core}/services/absent/proxy/x`, 404, 'services "absent" not found'],
    ['GET', '/api/v1/nodes/absent/proxy/pods', 404, 'nodes "absent" not found'],
  ])('%s %s: %i %s', async (method, url, code, message) => {
    const answer = await ask(method, url);
    expect([answer.status, answer.json().message, dialled]).toEqual([code, message, []]);
  });

  test('running something needs the right to create, whatever the method', async () => {
    const bob = {name: 'bob', groups: ['system:authenticated']};
    const rules = [{apiGroups: [''], resources: ['pods/exec'], verbs: ['get']}];
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    await api.post(`${roles}/roles`, {metadata: {name: 'looker'}, rules});
    const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'looker'};
    await api.post(`${roles}/rolebindings`, {metadata: {name: 'bob'}, roleRef, subjects: [{kind: 'User', name: 'bob'}]});
    const answer = await ask('GET', `${pods}/web/exec?command=ls&stdout=1`, spdy, {upgrade: true, user: bob});
    expect([answer.status, answer.json().reason, dialled]).toEqual([403, 'Forbidden', []]);
  });

  test('a pod that is not bound has said nothing', async () => {
    expect(await ask('GET', `${pods}/unbound/log`)).toMatchObject({status: 204, text: ''});
  });
});

describe('a log', () => {
  test('is asked of the agent with what was asked for', async () => {
    const answer = await ask(
      'GET',
      `${pods}/web/log?follow=1&tailLines=7&sinceTime=2024-01-02T03:04:05.6%2B02:00&insecureSkipTLSVerifyBackend=true`,
    );
    expect(answer).toMatchObject({status: 200, headers: {'content-type': 'text/plain'}});
    expect(answer.json().url).toBe('/containerLogs/default/web/c?follow=true&sinceTime=2024-01-02T01%3A04%3A05Z&tailLines=7');
    expect(dialled).toEqual([['bright', 'agent']]);
  });

  test.each([
    ['waiting', 400, 'BadRequest', 'container "c" in pod "waiting" is waiting to start: ContainerCreating'],
    ['lost', 404, 'NotFound', 'the server could not find the requested resource ( pods/log lost)'],
    ['ill', 500, 'InternalError', 'Internal error occurred: disk on fire'],
    ['far', 503, 'ServiceUnavailable', 'error dialing backend: dial tcp 192.0.2.9:10250: connect: connection refused'],
  ])('of %s: %i', async (name, code, reason, message) => {
    const answer = await ask('GET', `${pods}/${name}/log`);
    expect([answer.status, answer.json().reason, answer.json().message]).toEqual([code, reason, message]);
  });
});

describe('a session', () => {
  test('goes through with its own headers, and streams in the words of agents', async () => {
    const {text, status, headers} = await upgrade(
      'POST',
      `${pods}/web/exec?command=sh&command=-c%20x&stdin=true&stdout=1&stderr=0&tty=true`,
      {
        authorization: 'Bearer secret',
        'impersonate-user': '',
        'x-stream-protocol-version': 'v5.channel.k8s.io, v4.channel.k8s.io',
      },
    );
    const asked = JSON.parse(text);
    expect([status, headers['upgrade']]).toEqual([101, 'SPDY/3.1']);
    expect(asked.url).toBe('/exec/default/web/c?command=sh&command=-c+x&input=1&output=1&tty=1');
    expect(asked.headers).toMatchObject({upgrade: 'SPDY/3.1', connection: 'Upgrade'});
    expect(asked.headers.authorization).toBeUndefined();
    expect(asked.lines.filter((line: string) => line.endsWith('channel.k8s.io'))).toEqual(['v5.channel.k8s.io', 'v4.channel.k8s.io']);
  });

  test('of a browser leaves its token here', async () => {
    const protocols = `base64url.bearer.authorization.k8s.io.${Buffer.from('t').toString('base64url')}, v5.channel.k8s.io`;
    const {text} = await upgrade('GET', `${pods}/web/attach?stdout=1`, {upgrade: 'websocket', 'sec-websocket-protocol': protocols});
    expect(JSON.parse(text).headers['sec-websocket-protocol']).toBe('v5.channel.k8s.io');
  });

  test('forwards ports', async () => {
    expect(JSON.parse((await upgrade('POST', `${pods}/web/portforward?ports=80&ports=81`)).text).url).toBe(
      '/portForward/default/web?port=80%2C81',
    );
  });

  test('that the agent refuses is answered as it refuses', async () => {
    expect(await upgrade('POST', `${pods}/lost/exec?command=ls&stdout=1`)).toMatchObject({status: 404, text: 'none'});
  });
});

describe('a proxy', () => {
  test.each([
    ['GET', `${pods}/web/proxy/a/b?x=1`, '/a/b?x=1', {host: '10.1.0.7', port: 8080}],
    ['GET', `${pods}/web/proxy/`, '/', {host: '10.1.0.7', port: 8080}],
    ['POST', `${pods}/web/proxy`, '/', {host: '10.1.0.7', port: 8080}],
    ['GET', `${pods}/web:81/proxy/a%2Fb//c/../../../../d%20e/`, '/d%20e/', {host: '10.1.0.7', port: 81}],
    ['GET', `${core}/services/web:http/proxy/x`, '/x', {host: '10.1.0.7', port: 8080}],
    ['GET', `${core}/services/http:web:80/proxy/x`, '/x', {host: '10.1.0.7', port: 8080}],
    ['GET', `${core}/services/sliced:http/proxy/x`, '/x', {host: '10.1.0.7', port: 8081}],
    ['GET', '/api/v1/nodes/bright/proxy/pods', '/pods', 'agent'],
    ['GET', '/api/v1/nodes/bright:10250/proxy/pods', '/pods', 'agent'],
    ['GET', '/api/v1/nodes/http:bright:81/proxy/x', '/x', {host: '192.0.2.9', port: 81}],
    ['OPTIONS', `${pods}/web/proxy/x`, '/x', {host: '10.1.0.7', port: 8080}],
  ] as const)('%s %s asks for %s', async (method, url, target, to) => {
    const answer = await ask(method, url);
    expect([answer.status, answer.json().url, answer.json().method, dialled]).toEqual([200, target, method, [['bright', to]]]);
  });

  test('keeps what is between two hops on its hop', async () => {
    const {json} = await ask(
      'GET',
      `${pods}/web/proxy/x`,
      {connection: 'x-own', 'x-own': '1', te: 'gzip', 'proxy-authorization': 'x', authorization: 'y', 'x-forwarded-for': '192.0.2.1'},
      {peer: {address: '192.0.2.2'}},
    );
    const {headers} = json();
    expect(headers).toMatchObject({'x-forwarded-for': '192.0.2.1, 192.0.2.2', 'x-forwarded-uri': `${pods}/web/proxy/x`});
    for (const name of ['x-own', 'te', 'proxy-authorization', 'authorization']) expect(headers[name]).toBeUndefined();
  });

  test('leads back through itself', async () => {
    expect((await ask('GET', `${pods}/web/proxy?a=b`)).headers['location']).toBe(`${pods}/web/proxy/?a=b`);
    expect((await ask('GET', `${pods}/web/proxy/moved`)).headers['location']).toBe(`${pods}/web/proxy/there/`);
    const page = await ask('GET', `${pods}/web/proxy/page`);
    expect(page.text).toBe(`<a href="${pods}/web/proxy/x">`);
    expect(page.headers['cache-control']).toEqual(['no-cache, private', 'max-age=60']);
    expect(page.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('says what is in its way', async () => {
    const answer = await ask('GET', `${pods}/far/proxy/x`);
    expect([answer.status, answer.json().message]).toEqual([
      503,
      'error trying to reach service: dial tcp 192.0.2.9:10250: connect: connection refused',
    ]);
  });
});
