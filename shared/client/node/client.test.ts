/** Credentials and HTTP as programs meet them: kubeconfigs, plugins, pods' files, servers that say no or come again. */
import {createPrivateKey} from 'node:crypto';
import {chmod, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {X509CertificateGenerator} from '@peculiar/x509';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../clock.ts';
import {connect} from './connect.ts';
import {CredentialsError, loadCredentials} from './credentials.ts';

let folder: string;
let server: Server;
let url: string;
let asked: {method: string; url: string; headers: IncomingMessage['headers']; body: string}[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const environment = {...process.env};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'));
  asked = [];
  answer = (_request, response) => response.end('{}');
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      asked.push({method: request.method!, url: request.url!, headers: request.headers, body});
      answer(request, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  process.env = {...environment};
  server.closeAllConnections();
  server.close();
  await rm(folder, {recursive: true, force: true});
});

const kubeconfig = async (user: object, more: {cluster?: object; context?: object; name?: string} = {}): Promise<string> => {
  const file = join(folder, more.name ?? 'config');
  const config = {
    'current-context': 'here',
    clusters: [{name: 'c', cluster: {server: `${url}/`, ...more.cluster}}],
    users: [{name: 'u', user}],
    contexts: [{name: 'here', context: {cluster: 'c', user: 'u', ...more.context}}],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
};

const algorithm = {name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256'} as const;
const pods = {groupVersion: 'v1', resource: 'pods', namespace: 'a'};

describe('credentials', () => {
  test('of a kubeconfig: a token, a password, somebody to speak for, a namespace', async () => {
    const token = await loadCredentials({kubeconfig: await kubeconfig({token: 't'}, {context: {namespace: 'mine'}})});
    expect([token.server, token.namespace, await token.present()]).toEqual([url, 'mine', {authorization: 'Bearer t'}]);
    const basic = await loadCredentials({kubeconfig: await kubeconfig({username: 'a', password: 'b'})});
    expect(await basic.present()).toEqual({authorization: 'Basic YTpi'});
    const as = await loadCredentials({kubeconfig: await kubeconfig({token: 't', as: 'bob', 'as-groups': ['x', 'y']})});
    expect(await as.present()).toEqual({
      authorization: 'Bearer t',
      headers: {'impersonate-user': 'bob', 'impersonate-group': 'x, y'},
    });
  });

  test('in files are found beside the kubeconfig', async () => {
    await writeFile(join(folder, 'token'), 'from-file\n');
    await writeFile(join(folder, 'cert.pem'), 'CERT');
    await writeFile(join(folder, 'ca.pem'), 'CA');
    const user = {tokenFile: 'token', 'client-certificate': 'cert.pem', 'client-key-data': Buffer.from('KEY').toString('base64')};
    const found = await loadCredentials({kubeconfig: await kubeconfig(user, {cluster: {'certificate-authority': 'ca.pem'}})});
    expect(found.ca).toBe('CA');
    expect(await found.present()).toEqual({authorization: 'Bearer from-file', certificate: {cert: 'CERT', key: 'KEY'}});
  });

  test('in files are read anew when they were refused: another token, and another certificate once its key has come too', async () => {
    const pair = async () => {
      const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const made = await X509CertificateGenerator.createSelfSigned({keys, signingAlgorithm: algorithm, name: 'CN=me'});
      const key = createPrivateKey({
        key: Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)),
        format: 'der',
        type: 'pkcs8',
      });
      return {cert: made.toString('pem').trim(), key: (key.export({type: 'pkcs8', format: 'pem'}) as string).trim()};
    };
    const [first, second] = [await pair(), await pair()];
    const write = (name: string, text: string) => writeFile(join(folder, name), text);
    await Promise.all([write('token', 'one'), write('cert.pem', first.cert), write('key.pem', first.key), write('ca.pem', 'CA 1')]);
    const user = {tokenFile: 'token', 'client-certificate': 'cert.pem', 'client-key': 'key.pem'};
    const found = await loadCredentials({kubeconfig: await kubeconfig(user, {cluster: {'certificate-authority': 'ca.pem'}})});
    expect(await found.present()).toEqual({authorization: 'Bearer one', certificate: first});
    await Promise.all([write('token', ''), write('cert.pem', second.cert), write('ca.pem', 'CA 2')]);
    expect(await found.present()).toEqual({authorization: 'Bearer one', certificate: first});
    // Files that are being exchanged: half of a pair, and a token that is empty for a moment.
    expect(await found.present(true)).toEqual({authorization: 'Bearer one', certificate: first});
    expect(found.ca).toBe('CA 2');
    await Promise.all([write('token', 'two'), write('key.pem', second.key)]);
    expect(await found.present(true)).toEqual({authorization: 'Bearer two', certificate: second});
    await rm(join(folder, 'token'));
    expect(await found.present(true)).toMatchObject({authorization: 'Bearer two'});
  });

  test('in a file are exchanged by whoever finds them refused', async () => {
    await writeFile(join(folder, 'token'), 'old');
    const client = await connect({kubeconfig: await kubeconfig({tokenFile: 'token'})});
    answer = (request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer new' ? 200 : 401;
      response.end('{}');
    };
    await expect(client.get(pods, 'x')).rejects.toMatchObject({status: {code: 401}});
    await writeFile(join(folder, 'token'), 'new');
    await client.get(pods, 'x');
    client.close();
  });

  test('of several files are merged: the first that names something says what it is', async () => {
    const first = await kubeconfig({token: 'first'}, {name: 'one'});
    const second = await kubeconfig({token: 'second'}, {name: 'two'});
    process.env['KUBECONFIG'] = `${join(folder, 'missing')}:${first}:${second}`;
    expect(await (await loadCredentials()).present()).toEqual({authorization: 'Bearer first'});
  });

  test('of a plugin are asked for once, kept until they end, and asked for again when they are refused', async () => {
    const plugin = join(folder, 'plugin.mjs');
    const count = join(folder, 'count');
    await writeFile(
      plugin,
      `#!${process.execPath}
import {appendFileSync, readFileSync} from 'node:fs';
appendFileSync(${JSON.stringify(count)}, 'x');
const times = readFileSync(${JSON.stringify(count)}).length;
const {apiVersion} = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
console.log(JSON.stringify({kind: 'ExecCredential', apiVersion, status: {token: process.env.NAME + process.argv[2] + times, expirationTimestamp: new Date(Date.now() + 600000)}}));
`,
    );
    await chmod(plugin, 0o755);
    const exec = {apiVersion: 'client.authentication.k8s.io/v1', command: './plugin.mjs', args: ['-'], env: [{name: 'NAME', value: 'n'}]};
    const found = await loadCredentials({kubeconfig: await kubeconfig({exec})});
    expect(await Promise.all([found.present(), found.present()])).toEqual([{authorization: 'Bearer n-1'}, {authorization: 'Bearer n-1'}]);
    answer = (request, response) => {
      response.statusCode = request.headers.authorization === 'Bearer n-2' ? 200 : 401;
      response.end('{"metadata":{"name":"x"}}');
    };
    const client = await connect({credentials: found});
    await client.get(pods, 'x');
    expect(asked.map(({headers}) => headers.authorization)).toEqual(['Bearer n-1', 'Bearer n-2']);
    client.close();
  });

  test.each([
    [
      {exec: {apiVersion: 'v1', command: './nothing', installHint: 'get it somewhere'}},
      /credential plugin .*nothing failed: .*get it somewhere/,
    ],
    [{exec: {apiVersion: 'v1', command: 'true'}}, /credential plugin true gave no credential/],
  ])('of a plugin that fails say so', async (user, words) => {
    const found = await loadCredentials({kubeconfig: await kubeconfig(user)});
    await expect(found.present()).rejects.toThrow(words);
  });

  test('that are not there are said to be missing, by name', async () => {
    const file = await kubeconfig({});
    await expect(loadCredentials({kubeconfig: join(folder, 'no')})).rejects.toThrow(/cannot read kubeconfig .*no: ENOENT/);
    await expect(loadCredentials({kubeconfig: file, context: 'there'})).rejects.toThrow(/has no context "there"/);
    await writeFile(file, '{: :');
    await expect(loadCredentials({kubeconfig: file})).rejects.toThrow(CredentialsError);
    await expect(loadCredentials({kubeconfig: await kubeconfig({'client-certificate': 'gone.pem'})})).rejects.toThrow(
      'cannot read gone.pem: ENOENT',
    );
  });
});

describe('a client', () => {
  test('says what it wants as any other: paths, queries, bodies', async () => {
    answer = (_request, response) => response.end('{"metadata":{"name":"x"}}');
    const client = await connect({kubeconfig: await kubeconfig({token: 't'}), userAgent: 'me'});
    const deployments = {groupVersion: 'apps/v1', resource: 'deployments', namespace: 'a'};
    const object = {kind: 'Deployment', apiVersion: 'apps/v1', metadata: {name: 'x'}};
    await client.get(pods, 'x');
    await client.create(deployments, object, {dryRun: 'All'});
    await client.update(deployments, object, 'status');
    await client.patch(deployments, 'x', 'application/merge-patch+json', {a: 1}, 'scale');
    await client.apply(deployments, object, {fieldManager: 'me', force: true});
    await client.delete({groupVersion: 'v1', resource: 'nodes'}, 'n', {propagationPolicy: 'Orphan'});
    expect(asked.map(({method, url, headers, body}) => [method, url, headers['content-type'], body])).toEqual([
      ['GET', '/api/v1/namespaces/a/pods/x', undefined, ''],
      ['POST', '/apis/apps/v1/namespaces/a/deployments?dryRun=All', 'application/json', JSON.stringify(object)],
      ['PUT', '/apis/apps/v1/namespaces/a/deployments/x/status', 'application/json', JSON.stringify(object)],
      ['PATCH', '/apis/apps/v1/namespaces/a/deployments/x/scale', 'application/merge-patch+json', '{"a":1}'],
      [
        'PATCH',
        '/apis/apps/v1/namespaces/a/deployments/x?fieldManager=me&force=true',
        'application/apply-patch+yaml',
        JSON.stringify(object),
      ],
      ['DELETE', '/api/v1/nodes/n', 'application/json', '{"propagationPolicy":"Orphan"}'],
    ]);
    expect(asked[0]!.headers).toMatchObject({authorization: 'Bearer t', 'user-agent': 'me', accept: 'application/json'});
    client.close();
  });

  test('reads a long list in chunks', async () => {
    answer = (request, response) => {
      const next = new URL(request.url!, url).searchParams.get('continue');
      const page =
        next === null
          ? {metadata: {resourceVersion: '7', continue: 'more'}, items: [{}]}
          : {metadata: {resourceVersion: '7'}, items: [{}, {}]};
      response.end(JSON.stringify(page));
    };
    const client = await connect({kubeconfig: await kubeconfig({})});
    const list = await client.list(pods, {labelSelector: 'a=b', resourceVersion: '5'});
    expect([list.items.length, list.metadata]).toEqual([3, {resourceVersion: '7'}]);
    expect(asked.map(({url}) => url.split('?')[1])).toEqual([
      'labelSelector=a%3Db&resourceVersion=5&limit=500',
      'labelSelector=a%3Db&limit=500&continue=more',
    ]);
    client.close();
  });

  test('comes again when it is told to, and throws what the server says otherwise', async () => {
    const codes = [429, 503, 200, 409];
    answer = (_request, response) => {
      const code = codes.shift()!;
      response.writeHead(code, code === 409 ? {} : {'retry-after': '0.01'});
      response.end(JSON.stringify({kind: 'Status', code, reason: 'Conflict', message: 'changed'}));
    };
    const client = await connect({kubeconfig: await kubeconfig({})});
    await client.create(pods, {});
    await expect(client.create(pods, {})).rejects.toMatchObject({reason: 'Conflict', message: 'changed'});
    answer = (_request, response) => response.writeHead(502).end('<html>bad gateway</html>');
    await expect(client.get(pods, 'x')).rejects.toThrow('the server answered 502: <html>bad gateway</html>');
    client.close();
  });

  test('asks again for a read whose answer was lost, and never sends a write twice', async () => {
    answer = (request, response) => (asked.length === 1 ? request.socket.destroy() : response.end('{}'));
    const client = await connect({kubeconfig: await kubeconfig({})});
    await client.get(pods, 'x');
    expect(asked.length).toBe(2);
    asked.length = 0;
    await expect(client.create(pods, {})).rejects.toThrow();
    expect(asked.length).toBe(1);
    client.close();
  });

  test('waits for its turn where it is paced, by what matters most; what is free does not wait', async () => {
    const turns: [string, () => void][] = [];
    const pace = (priority: string) => new Promise<void>((go) => turns.push([priority, go]));
    const client = await connect({kubeconfig: await kubeconfig({}), pace});
    const low = client.request('PATCH', '/low', {priority: 'low', body: {}});
    const normal = client.create(pods, {});
    await client.request('PUT', '/lease', {priority: 'free', body: {}});
    expect([turns.map(([priority]) => priority), asked.map(({method}) => method)]).toEqual([['low', 'normal'], ['PUT']]);
    for (const [, go] of turns) go();
    await Promise.all([low, normal]);
    expect(asked.length).toBe(3);
    client.close();
  });

  test('gives up a server that is silent for longer than asked, and what its caller gives up', async () => {
    answer = () => {};
    const client = await connect({kubeconfig: await kubeconfig({})});
    await expect(client.request('PUT', '/lease', {body: {}, timeoutMs: 50})).rejects.toThrow('no answer in time');
    const stop = new AbortController();
    const given = client.request('GET', '/x', {signal: stop.signal});
    stop.abort();
    await expect(given).rejects.toThrow(/abort/i);
    client.close();
  });

  test('ends a watch that the server has forgotten to end', async () => {
    const clock = new ManualClock();
    answer = (request, response) => (request.url!.includes('watch=1') ? response.flushHeaders() : response.end('{}'));
    const client = await connect({kubeconfig: await kubeconfig({}), clock, random: () => 0, watches: 'http'});
    const ends: unknown[] = [];
    const nobody = {event: () => {}, bookmark: () => {}, ended: (status: unknown) => ends.push(status)};
    client.watch({path: pods}, '5', nobody);
    clock.advance(329_000);
    expect(ends).toEqual([]);
    clock.advance(2_000);
    expect(ends).toEqual([undefined]);
    client.close();
  });

  test('watches over HTTP: events torn anywhere, bookmarks, and an error at the end', async () => {
    const lines = [
      {type: 'ADDED', object: {metadata: {name: 'ä'}}},
      {type: 'BOOKMARK', object: {metadata: {resourceVersion: '9'}}},
      {type: 'ERROR', object: {kind: 'Status', code: 410}},
    ];
    answer = (request, response) => {
      if (!request.url!.includes('watch=1')) return void response.end('{}');
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      response.flushHeaders();
      let at = 0;
      const drip = (): void => {
        response.write(bytes.subarray(at, at + 7));
        at += 7;
        if (at < bytes.length) setImmediate(drip);
      };
      drip();
    };
    const client = await connect({kubeconfig: await kubeconfig({})});
    const heard: unknown[] = [];
    await new Promise<void>((done) => {
      client.watch({path: pods, labelSelector: 'a=b'}, '5', {
        event: (type, {metadata}) => heard.push([type, metadata.name]),
        bookmark: (version) => heard.push(version),
        ended: (status) => {
          heard.push(status?.code);
          done();
        },
      });
    });
    expect(heard).toEqual([['ADDED', 'ä'], '9', 410]);
    expect(asked.at(-1)!.url).toMatch(
      /^\/api\/v1\/namespaces\/a\/pods\?watch=1&allowWatchBookmarks=1&resourceVersion=5&timeoutSeconds=\d+&labelSelector=a%3Db$/,
    );
    client.close();
  });
});
