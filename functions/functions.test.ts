/** The functions, called with plain events over one store in memory: each an environment of its own, as on Lambda. */
import {beforeAll, describe, expect, test, vi} from 'vitest';
import {routes} from '../shared/http/routes.ts';
import type {FunctionName, FunctionRow} from './functions.ts';
import type {ProxyResult} from './kit/answer.ts';
import type {RestHandler} from './kit/rest.ts';
import type {TestDoors} from './kit/testing.ts';

type Kit = typeof import('./kit/testing.ts');

let kit: Kit;
let doors: TestDoors;
const handlers = new Map<string, RestHandler>();

async function handlerOf(name: FunctionName): Promise<RestHandler> {
  const handler =
    handlers.get(name) ??
    ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as {handler: RestHandler}).handler;
  handlers.set(name, handler);
  return handler;
}

async function ask(name: FunctionName, method: string, url: string, options: Parameters<Kit['restEvent']>[2] = {}) {
  const handler = await handlerOf(name);
  const result: ProxyResult = await handler(kit.restEvent(method, url, options));
  const bytes = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8');
  return {...result, bytes, json: () => JSON.parse(bytes.toString())};
}

beforeAll(async () => {
  vi.resetModules();
  handlers.clear();
  kit = await import('./kit/testing.ts');
  doors = await kit.installDoors();
  const {handler: bootstrap} = await import('./bootstrap.ts');
  await bootstrap({RequestType: 'Create', ResourceProperties: {}});
}, 60_000);

const configMap = (name: string, data: Record<string, string> = {}) => ({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name}, data});
const json = {'Content-Type': 'application/json'};

describe('a deployment', () => {
  test('makes the keys, and writes what every cluster starts with', async () => {
    expect([...doors.parameters.keys()].sort()).toEqual(['client-ca', 'client-ca-key', 'service-account-key', 'static-tokens']);
    expect((await ask('get', 'GET', '/api/v1/namespaces/kube-system')).statusCode).toBe(200);
    expect((await ask('get', 'GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin')).statusCode).toBe(200);
    expect((await ask('get', 'GET', '/api/v1/namespaces/default/serviceaccounts/default')).statusCode).toBe(200);
    const roots = (await ask('get', 'GET', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt')).json();
    expect(roots.data['ca.crt']).toContain('BEGIN CERTIFICATE');
  });

  test('again changes nothing', async () => {
    const {handler} = await import('./bootstrap.ts');
    const before = new Map(doors.parameters);
    const head = await doors.store.head('clusterroles.rbac.authorization.k8s.io');
    const answer = await handler({RequestType: 'Update', PhysicalResourceId: 'bootstrap', ResourceProperties: {}});
    expect(answer).toEqual({Status: 'SUCCESS', PhysicalResourceId: 'bootstrap', Data: {ClientCa: before.get('client-ca')}});
    expect(doors.parameters).toEqual(before);
    expect(await doors.store.head('clusterroles.rbac.authorization.k8s.io')).toBe(head);
  });

  test('of something else is refused', async () => {
    const {handler} = await import('./bootstrap.ts');
    await expect(handler({Records: []})).rejects.toThrow('not an event of a custom resource');
  });
});

describe('the verbs', () => {
  test('each serve their own', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    expect((await ask('create', 'POST', path, {headers: json, body: configMap('a', {x: '1'})})).statusCode).toBe(201);
    const read = await ask('get', 'GET', `${path}/a`);
    expect(read).toMatchObject({statusCode: 200, isBase64Encoded: false, headers: {'content-type': 'application/json'}});
    const object = read.json();
    expect((await ask('update', 'PUT', `${path}/a`, {headers: json, body: {...object, data: {x: '2'}}})).json().data).toEqual({x: '2'});
    const patched = await ask('patch', 'PATCH', `${path}/a`, {
      headers: {'Content-Type': 'application/merge-patch+json'},
      body: {data: {y: '3'}},
    });
    expect(patched.json().data).toEqual({x: '2', y: '3'});
    await ask('create', 'POST', path, {headers: json, body: configMap('b')});
    expect((await ask('list', 'GET', path)).json().items.map((item: {metadata: {name: string}}) => item.metadata.name)).toEqual([
      'a',
      'b',
      'kube-root-ca.crt',
    ]);
    expect((await ask('delete', 'DELETE', `${path}/a`)).statusCode).toBe(200);
    expect((await ask('delete-collection', 'DELETE', `${path}?fieldSelector=metadata.name=b`)).statusCode).toBe(200);
    expect((await ask('get', 'GET', `${path}/b`)).statusCode).toBe(404);
  });

  test('of subresources, reviews and what is no resource, too', async () => {
    const review = {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: {resourceAttributes: {verb: 'get', resource: 'pods'}},
    };
    const reviewed = await ask('review', 'POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {headers: json, body: review});
    expect(reviewed.json().status.allowed).toBe(true);
    const token = await ask('create', 'POST', '/api/v1/namespaces/default/serviceaccounts/default/token', {
      headers: json,
      body: {kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {}},
    });
    expect(token.statusCode).toBe(201);
    expect((await ask('discovery', 'GET', '/apis')).json().kind).toBe('APIGroupList');
    expect((await ask('discovery', 'GET', '/openid/v1/jwks', {headers: {Accept: '*/*'}})).json().keys).toHaveLength(1);
    expect((await ask('discovery', 'GET', '/version')).json().gitVersion).toMatch(/^v1\.36/);
    expect((await ask('openapi', 'GET', '/openapi/v3')).json().paths).toBeTypeOf('object');
    expect((await ask('health', 'GET', '/readyz')).bytes.toString()).toBe('ok');
    expect((await ask('metrics', 'GET', '/metrics')).bytes.toString()).toContain('apiserver_storage_objects{resource="namespaces"}');
    expect((await ask('metrics', 'GET', '/metrics')).bytes.toString()).not.toContain('apiserver_request_total');
    expect((await ask('connect', 'GET', '/api/v1/namespaces/default/pods/none/log')).statusCode).toBe(404);
  });

  test('tell with the version where watches share a connection', async () => {
    expect((await ask('discovery', 'GET', '/version')).headers['watch-socket']).toBe(
      'wss://abcdef1234.execute-api.us-east-1.amazonaws.com/prod v1.watch.clusterless.dev',
    );
  });

  test('take a token that another function has made', async () => {
    const made = await ask('create', 'POST', '/api/v1/namespaces/kube-system/serviceaccounts/default/token', {
      headers: json,
      body: {kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {}},
    });
    const {token} = made.json().status;
    const refused = await ask('get', 'GET', '/api/v1/namespaces/default', {token});
    expect(refused.json()).toMatchObject({
      reason: 'Forbidden',
      message: expect.stringContaining('system:serviceaccount:kube-system:default'),
    });
  });
});

describe('answers', () => {
  test('say no as the API does', async () => {
    expect((await ask('get', 'GET', '/api/v1/nodes/a', {token: 'wrong'})).json()).toMatchObject({kind: 'Status', code: 401});
    expect((await ask('get', 'GET', '/api/v1/nodes/a', {token: kit.bobToken})).json()).toMatchObject({kind: 'Status', code: 403});
    expect((await ask('discovery', 'GET', '/nothing/there')).statusCode).toBe(404);
    expect((await ask('discovery', 'BREW', '/api/v1/pods')).json()).toMatchObject({kind: 'Status', code: 405});
  });

  test('are a Status where a function is asked for what it does not serve', async () => {
    expect((await ask('get', 'DELETE', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt')).json()).toMatchObject({code: 404});
    expect(doors.lines).toContainEqual(expect.objectContaining({level: 'WARN', message: 'not served by this function', verb: 'delete'}));
  });

  test('are a Status to what is no event of the gateway', async () => {
    const {statusCode, body} = await (await handlerOf('get'))({version: '2.0', rawPath: '/api'});
    expect(statusCode).toBe(400);
    expect(JSON.parse(body)).toMatchObject({kind: 'Status', reason: 'BadRequest', message: expect.stringContaining('payload format 2.0')});
  });

  test('go as base64 where they are bytes', async () => {
    const protobuf = {Accept: 'application/vnd.kubernetes.protobuf'};
    const {isBase64Encoded, bytes} = await ask('get', 'GET', '/api/v1/namespaces/default', {headers: protobuf});
    expect(isBase64Encoded).toBe(true);
    expect(bytes.subarray(0, 4).toString('latin1')).toBe('k8s\0');
  });

  test('are compressed from 128 KB on, for who takes that', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    await ask('create', 'POST', path, {headers: json, body: configMap('large', {x: 'x'.repeat(200_000)})});
    const squeezed = await ask('get', 'GET', `${path}/large`, {headers: {'Accept-Encoding': 'gzip'}});
    expect(squeezed).toMatchObject({isBase64Encoded: true, headers: {'content-encoding': 'gzip'}});
    expect(squeezed.bytes.length).toBeLessThan(10_000);
    expect((await ask('get', 'GET', `${path}/large`)).headers['content-encoding']).toBeUndefined();
  });
});

describe('a function that does not find its cluster', () => {
  test('says which variable is missing, as a Status, and is there when it can be', async () => {
    vi.resetModules();
    const fresh: Kit = await import('./kit/testing.ts');
    const own = await fresh.installDoors();
    const {variables} = own;
    const {doors: used} = await import('./kit/doors.ts');
    used.variables = {};
    const {handler} = (await import('./get.ts')) as {handler: RestHandler};
    const {statusCode, body} = await handler(fresh.restEvent('GET', '/api/v1/namespaces/a'));
    expect(statusCode).toBe(500);
    expect(JSON.parse(body)).toMatchObject({kind: 'Status'});
    used.variables = variables;
    expect((await handler(fresh.restEvent('GET', '/api/v1/namespaces/a'))).statusCode).toBe(404);
  });
});

describe('metrics', () => {
  test('are lines that CloudWatch adds up, one dimension for all functions', async () => {
    doors.lines.length = 0;
    await ask('get', 'GET', '/api/v1/namespaces/default');
    expect(doors.lines).toEqual([
      {
        _aws: {
          Timestamp: doors.clock.now(),
          CloudWatchMetrics: [
            {
              Namespace: 'Clusterless/test',
              Dimensions: [['Cluster']],
              Metrics: [
                {Name: 'Requests', Unit: 'Count'},
                {Name: 'Duration', Unit: 'Milliseconds'},
              ],
            },
          ],
        },
        Cluster: 'default',
        Requests: 1,
        Duration: expect.any(Number),
        function: 'get',
        method: 'GET',
        resource: '/{path+}',
        status: 200,
      },
    ]);
  });
});

describe('under the runtime', () => {
  test('a watch streams, and ends before its invocation would', async () => {
    const chunks: string[] = [];
    let finish = (): void => {};
    const stream = {
      write: (chunk: Uint8Array | string) => chunks.push(Buffer.from(chunk as string).toString()) > 0,
      end: () => finish(),
      on: (event: string, listener: () => void) => {
        if (event === 'finish') finish = listener;
      },
      once() {},
    };
    vi.resetModules();
    const fresh: Kit = await import('./kit/testing.ts');
    const own = await fresh.installDoors();
    type Streaming = (event: unknown, out: unknown, context: object) => Promise<void>;
    vi.stubGlobal('awslambda', {
      streamifyResponse: (handler: Streaming) => handler,
      HttpResponseStream: {
        from: (out: typeof stream, head: object) => {
          chunks.push(JSON.stringify(head));
          return out;
        },
      },
    });
    const {handler} = (await import('./list.ts')) as unknown as {handler: Streaming};
    vi.unstubAllGlobals();
    const event = fresh.restEvent('GET', '/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=0&timeoutSeconds=3600');
    const invocation = handler(event, stream, {getRemainingTimeInMillis: () => 100_000});
    await vi.waitFor(() => expect(chunks).toHaveLength(2));
    expect(JSON.parse(chunks[0]!)).toMatchObject({statusCode: 200, headers: {'content-type': 'application/json'}});
    own.clock.advance(25);
    await vi.waitFor(() => expect(chunks.length).toBeGreaterThan(2));
    own.clock.advance(60_000);
    await vi.waitFor(() => expect(chunks.at(-1)).toContain('BOOKMARK'));
    own.clock.advance(30_000);
    await invocation;
  });
});

describe('outside of the runtime', () => {
  test('a function that streams answers whole, also where the SDK has made a global of the runtime’s name', async () => {
    vi.resetModules();
    const fresh: Kit = await import('./kit/testing.ts');
    await fresh.installDoors();
    vi.stubGlobal('awslambda', {});
    const {handler} = (await import('./list.ts')) as {handler: RestHandler};
    vi.unstubAllGlobals();
    expect((await handler(fresh.restEvent('GET', '/api/v1/namespaces'))).statusCode).toBe(200);
  });
});

describe('the rows', () => {
  test('agree with the routes on who streams', async () => {
    const {functions} = await import('./functions.ts');
    for (const {path, function: name, streams = false} of routes as readonly {path: string; function: FunctionName; streams?: boolean}[]) {
      const row: FunctionRow = functions[name];
      // A streaming function answers nothing else: rows that could do without stream with the others.
      expect([path, row.streams || !streams]).toEqual([path, true]);
      expect([path, row.trigger]).toEqual([path, 'rest']);
    }
  });
});
