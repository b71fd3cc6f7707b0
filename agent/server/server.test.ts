/** The agent's ports as a client meets them, over a node of fakes: what is served to whom, and what is done with those who ask badly. */
import {once} from 'node:events';
import {mkdir, writeFile} from 'node:fs/promises';
import http, {type IncomingMessage} from 'node:http';
import https from 'node:https';
import {join} from 'node:path';
import {Duplex, PassThrough} from 'node:stream';
import tls from 'node:tls';
import {afterEach, describe, expect, test} from 'vitest';
import {issueClient, loadOrCreatePki} from '../../localstack/certificates.ts';
import {ManualClock} from '../../shared/clock.ts';
import {freePort} from '../../test/runtime/agent.ts';
import {parseArguments} from '../cli/flags.ts';
import {Settings} from '../cli/settings.ts';
import {ProbeCounts} from '../figures/probe-counts.ts';
import type {NodeState} from '../node/node-state.ts';
import {logDirectory} from '../pods/names.ts';
import {containerOf, type FakeNode, fakeNode, podOf} from '../pods/testing.ts';
import {FakeRuntime} from '../runtime/fake.ts';
import {scratch} from '../testing.ts';
import {Access} from './access.ts';
import {AgentServer} from './server.ts';

interface Answer {
  status: number;
  text: string;
  type: string | undefined;
}

describe('the agent’s server', () => {
  const closes: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closes.splice(0).reverse()) await close();
  });

  interface Given {
    flags?: string[];
    anonymous?: boolean;
    allowed?: boolean;
  }

  async function start({flags = [], anonymous = true, allowed = true}: Given = {}) {
    const folder = await scratch('nodeagent-server-');
    const runtime = new FakeRuntime(['img:1']);
    const node = await fakeNode(runtime);
    const log: string[] = [];
    const {values, errors} = parseArguments([
      ...['--port=0', '--read-only-port=0', '--healthz-port=0', '--address=127.0.0.1', `--cert-dir=${folder}/pki`],
      ...flags,
    ]);
    expect(errors).toEqual([]);
    const access = new Access({
      ...{client: undefined, clock: new ManualClock(), node: 'n1', anonymous, tokens: true},
      ...{tokenTtlMs: 1000, allowedTtlMs: 1000, deniedTtlMs: 1000, mode: allowed ? 'AlwaysAllow' : 'Webhook'},
    });
    const server = new AgentServer({
      settings: new Settings(values),
      manager: node.manager,
      state: {name: 'n1', hostIps: ['127.0.0.1'], isReady: true} as unknown as NodeState,
      runtime,
      cgroups: {where: () => undefined},
      clock: new ManualClock(),
      probes: new ProbeCounts(),
      access,
      log: {
        error: (text, error) => log.push(`${text}: ${(error as Error).message}`),
        warn: (text) => log.push(text),
        info: () => {},
        debug: () => {},
      },
      version: '1.0.0',
      logRoot: node.context.settings.logRoot,
    });
    await server.start();
    closes.push(() => node.manager.stop());
    closes.push(() => server.stop());
    return {server, node, runtime, log, folder, port: server.ports[0]!};
  }

  async function send(sent: http.ClientRequest): Promise<Answer> {
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return {status: response.statusCode!, text: Buffer.concat(chunks).toString(), type: response.headers['content-type']};
  }
  const ask = (port: number, path: string, more: https.RequestOptions = {}): Promise<Answer> =>
    send(https.request({host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, ...more}));
  const askOpenly = (port: number, path: string, method = 'GET'): Promise<Answer> =>
    send(http.request({host: '127.0.0.1', port, path, method, agent: false}));

  /** A pod that runs, with a log. */
  async function running(node: FakeNode) {
    const pod = podOf({containers: [containerOf('c'), containerOf('d')]});
    node.api(pod);
    await node.until(() => node.latest()?.phase === 'Running' && node.latest()?.containerStatuses?.length === 2, 'the pod runs');
    await node.until(() => node.latest()!.containerStatuses!.every(({state}) => state.running), 'all containers run');
    const folder = join(logDirectory(node.context.settings.logRoot, pod.metadata), 'c');
    await mkdir(folder, {recursive: true});
    const lines = ['one', 'two', 'three'].map((word, index) => `2026-01-01T00:00:0${index}.000000000Z stdout F ${word}\n`);
    await writeFile(join(folder, '0.log'), lines.join(''));
    return pod;
  }

  test('tells of its pods, and which of them run', async () => {
    const {node, port} = await start();
    expect(JSON.parse((await ask(port, '/runningpods/')).text).items).toEqual([]);
    await running(node);
    const {status, text, type} = await ask(port, '/pods');
    expect([status, type]).toEqual([200, 'application/json']);
    expect(JSON.parse(text)).toMatchObject({kind: 'PodList', items: [{metadata: {name: 'p'}, status: {phase: 'Running'}}]});
    expect(JSON.parse((await ask(port, '/runningpods/')).text).items).toMatchObject([{metadata: {name: 'p', namespace: 'ns'}}]);
  });

  test('serves a log, as much of it as is asked for', async () => {
    const {node, port} = await start();
    await running(node);
    const log = async (query = '') => (await ask(port, `/containerLogs/ns/p/c${query}`)).text;
    expect(await log()).toBe('one\ntwo\nthree\n');
    expect(await log('?tailLines=1')).toBe('three\n');
    expect(await log('?tail=all&limitBytes=5')).toBe('one\nt');
    expect(await log('?sinceTime=2026-01-01T00:00:01Z&timestamps=true')).toMatch(/^2026-01-01T00:00:01\.000000000Z two\n2026.* three\n$/);
  });

  test.each([
    ['/containerLogs/ns/p/c?tailLines=x', 400, '{"message":"Unable to decode query."}'],
    ['/containerLogs/ns/p/c?sinceTime=yesterday', 400, '{"message":"Unable to decode query."}'],
    ['/containerLogs/ns/p/c?tailLines=-1', 422, '{"message":"Invalid request: tailLines must be at least 0"}'],
    ['/containerLogs/ns/p/c?limitBytes=0', 422, '{"message":"Invalid request: limitBytes must be at least 1"}'],
    ['/containerLogs/ns/other/c', 404, 'pod "other" does not exist'],
    ['/containerLogs/ns/p/other', 404, 'container "other" not found in pod "p"'],
    ['/containerLogs/ns/p', 404, 'container "" not found in pod "p"'],
    ['/containerLogs', 404, 'pod "" does not exist'],
    ['/containerLogs/ns/p/c?previous=true', 400, 'previous terminated container "c" in pod "p" not found'],
    ['/containerLogs/ns/p/d', 404, 'failed to open log file'],
    ['/exec/ns/p/c?command=true&output=1', 400, 'unable to upgrade: missing upgrade headers in request'],
    ['/nothing', 404, '404 page not found\n'],
    ['/', 404, '404 page not found\n'],
    ['/metrics/nothing', 404, '404 page not found\n'],
    ['/stats/container', 404, '404 page not found\n'],
    ['/constructor', 404, '404 page not found\n'],
    ['/__proto__/x', 404, '404 page not found\n'],
    ['/healthz/nothing', 404, '404 page not found\n'],
    ['/pods/%zz', 400, 'bad request path'],
    ['/logs/../../etc/passwd', 404, '404 page not found\n'],
    ['/logs/..%2f..%2fetc%2fpasswd', 404, '404 page not found\n'],
    ['/logs/%00', 404, '404 page not found\n'],
  ])('%s is a %s that says why', async (path, status, words) => {
    const {node, port} = await start();
    await running(node);
    const answer = await ask(port, path);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(words);
  });

  test.each([
    ['DELETE', '/pods'],
    ['POST', '/configz'],
    ['HEAD', '/pods'],
    ['GET', '/run/ns/p/c?cmd=true'],
    ['PUT', '/exec/ns/p/c'],
  ])('%s %s is not a thing', async (method, path) => {
    const {node, port} = await start();
    await running(node);
    expect((await ask(port, path, {method})).status).toBe(405);
  });

  test('runs a command where it is asked to by POST', async () => {
    const {node, runtime, port} = await start();
    await running(node);
    runtime.onExec = (_, command) => ({stdout: Buffer.from(command.join('|')), stderr: Buffer.from('!'), exitCode: 0});
    expect(await ask(port, '/run/ns/p/c?cmd=echo%20a%20b', {method: 'POST'})).toMatchObject({status: 200, text: 'echo|a|b!'});
    runtime.onExec = () => {
      throw new Error('the runtime is gone');
    };
    expect(await ask(port, '/run/ns/p/c?cmd=true', {method: 'POST'})).toMatchObject({status: 500, text: 'the runtime is gone'});
  });

  test('says how it is', async () => {
    const {port} = await start({flags: ['--healthz-port=0']});
    expect(await ask(port, '/healthz')).toMatchObject({status: 200, text: 'ok'});
    expect((await ask(port, '/healthz?verbose')).text).toBe('[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n');
    expect((await ask(port, '/healthz?verbose&exclude=log')).text).not.toContain('log');
    expect(await ask(port, '/healthz/syncloop')).toMatchObject({status: 200, text: 'ok'});
  });

  test('shows its settings by name, with what they were given', async () => {
    const {port} = await start({flags: ['--max-pods=42']});
    expect(JSON.parse((await ask(port, '/configz')).text).nodeagentconfig).toMatchObject({'max-pods': 42});
  });

  test('knows nobody without credentials where nobody is not allowed, whatever they ask for', async () => {
    const {port} = await start({anonymous: false});
    for (const path of ['/pods', '/nothing', '/healthz', '/run/ns/p/c?cmd=true', '//pods', '/%70ods'])
      expect(await ask(port, path)).toMatchObject({status: 401, text: 'Unauthorized'});
    expect(await ask(port, '/pods', {headers: {authorization: 'Bearer guess'}})).toMatchObject({status: 401});
    expect(await ask(port, '/pods', {headers: {authorization: 'Basic Zm9vOmJhcg=='}})).toMatchObject({status: 401});
  });

  test('refuses whom the API server does not let, by what it serves and not by how that was spelled', async () => {
    const {port} = await start({allowed: false});
    const text = async (path: string) => (await ask(port, path)).text;
    const forbidden = (subresource: string) => `Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource=${subresource})`;
    expect(await text('/logs/syslog')).toBe(forbidden('log'));
    expect(await text('/%6Cogs/syslog')).toBe(forbidden('log'));
    expect(await text('//logs/syslog')).toBe(forbidden('log'));
    expect(await text('/stats/../exec/a/b/c')).toBe(forbidden('stats'));
    expect(await text('/nothing')).toBe(forbidden('proxy'));
  });

  test('upgrades pass the same gate, and an upgrade of what has none is refused', async () => {
    const upgrade = async (port: number, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
      ask(port, path, {headers: {connection: 'Upgrade', upgrade: 'websocket', ...headers}});
    const closed = await start({anonymous: false});
    expect(await upgrade(closed.port, '/exec/ns/p/c?command=sh&input=1')).toMatchObject({status: 401});
    const {node, port} = await start();
    expect(await upgrade(port, '/pods')).toMatchObject({status: 404});
    expect(await upgrade(port, '/exec/ns/p/c?command=sh&output=1')).toMatchObject({status: 404, text: 'pod "p" does not exist'});
    await running(node);
    expect(await upgrade(port, '/exec/ns/p/nope?command=sh&output=1')).toMatchObject({
      status: 404,
      text: 'unable to upgrade connection: container not found ("nope")',
    });
    expect(await upgrade(port, '/exec/ns/p/other-uid/c?command=sh&output=1')).toMatchObject({status: 404});
    expect(await upgrade(port, '/exec/ns/p/c?command=sh')).toMatchObject({
      status: 400,
      text: 'you must specify at least 1 of stdin, stdout, stderr',
    });
    expect(await upgrade(port, '/exec/%zz')).toMatchObject({status: 400});
  });

  test('a stream of the tunnel takes one request, be the next one plain or an upgrade', async () => {
    const {server, node} = await start({anonymous: false});
    await running(node);
    const said = async (...requests: string[]): Promise<string> => {
      const [readable, writable] = [new PassThrough(), new PassThrough()];
      server.serve(Duplex.from({readable, writable}));
      readable.write(requests.map((line) => `${line}\r\n\r\n`).join(''));
      const pieces: Buffer[] = [];
      writable.on('data', (piece: Buffer) => pieces.push(piece));
      await Promise.race([once(writable, 'end'), once(writable, 'close')]);
      return Buffer.concat(pieces).toString();
    };
    const first = 'GET /nothing HTTP/1.1\r\nHost: n1\r\nConnection: xupgrade\r\nUpgrade: x';
    const second = (connection: string) =>
      `POST /exec/ns/p/nope?command=sh&output=1 HTTP/1.1\r\nHost: n1\r\nConnection: ${connection}\r\nUpgrade: x`;
    expect(await said(first)).toMatch(/^HTTP\/1.1 404 Not Found/);
    for (const connection of ['close', 'Upgrade']) expect(await said(first, second(connection))).not.toContain('container not found');
  });

  test('the read-only port tells what anyone may see, and does nothing, however that is spelled', async () => {
    const {server, node} = await start({flags: [`--read-only-port=${await freePort()}`], anonymous: false});
    const port = server.ports[1]!;
    await running(node);
    for (const path of ['/pods', '/healthz', '/metrics/probes']) expect((await askOpenly(port, path)).status).toBe(200);
    for (const path of [
      '/containerLogs/ns/p/c',
      '//containerLogs/ns/p/c',
      '/container%4Cogs/ns/p/c',
      '/logs/',
      '//logs/',
      '/runningpods/',
      '/exec/ns/p/c',
    ])
      expect(await askOpenly(port, path)).toMatchObject({status: 405, text: 'Debug endpoints are disabled.\n'});
    for (const path of ['/run/ns/p/c?cmd=true', '//run/ns/p/c?cmd=true', '/%72un/ns/p/c?cmd=true'])
      expect(await askOpenly(port, path, 'POST')).toMatchObject({status: 405});
    for (const path of ['/configz', '//configz', '/manifests']) expect((await askOpenly(port, path)).status).toBe(404);
  });

  test('without debugging handlers nobody gets at containers', async () => {
    const {node, port} = await start({flags: ['--enable-debugging-handlers=false']});
    await running(node);
    for (const path of ['/containerLogs/ns/p/c', '//containerLogs/ns/p/c', '/logs/', '/runningpods/'])
      expect(await ask(port, path)).toMatchObject({status: 405, text: 'Debug endpoints are disabled.\n'});
    const headers = {connection: 'Upgrade', upgrade: 'websocket'};
    expect(await ask(port, '/exec/ns/p/c?command=sh&output=1', {headers})).toMatchObject({status: 405});
    expect((await ask(port, '/pods')).status).toBe(200);
  });

  test('the health port answers for health alone, and survives those who ask badly', async () => {
    const {server} = await start({flags: [`--healthz-port=${await freePort()}`]});
    const port = server.ports[1]!;
    expect(await askOpenly(port, '/healthz')).toMatchObject({status: 200, text: 'ok'});
    expect(await askOpenly(port, '/pods')).toMatchObject({status: 404});
    expect(await askOpenly(port, '/healthz/%zz')).toMatchObject({status: 400});
    expect(await askOpenly(port, '/healthz')).toMatchObject({status: 200});
  });

  test('what is too long is refused, and the next one is served', async () => {
    const {port} = await start();
    expect((await ask(port, `/pods?${'x'.repeat(60_000)}`)).status).toBe(200);
    expect((await ask(port, `/pods?${'x'.repeat(70_000)}`)).status).toBe(431);
    expect((await ask(port, '/pods', {headers: {'x-long': 'x'.repeat(70_000)}})).status).toBe(431);
    expect((await ask(port, '/pods')).status).toBe(200);
  });

  test('who speaks no TLS, or too old a one, is not spoken to; nor does it hurt', async () => {
    const {port, log} = await start({flags: ['--tls-min-version=VersionTLS13']});
    await expect(askOpenly(port, '/pods')).rejects.toThrow();
    await expect(ask(port, '/pods', {maxVersion: 'TLSv1.2'})).rejects.toThrow();
    expect((await ask(port, '/pods', {minVersion: 'TLSv1.3'})).status).toBe(200);
    expect(log).toEqual([]);
  });

  test('a client certificate counts when our CA signed it', async () => {
    const folder = await scratch('nodeagent-ca-');
    const names = ['127.0.0.1'];
    const [ours, theirs] = [await loadOrCreatePki({folder, names}), await loadOrCreatePki({names})];
    const file = join(folder, 'client-ca.crt');
    await writeFile(file, ours.ca.certificate);
    const {port} = await start({flags: [`--client-ca-file=${file}`], anonymous: false});
    const user = {name: 'kube-apiserver', groups: ['system:masters']};
    const [good, bad] = [await issueClient(ours.ca, user), await issueClient(theirs.ca, user)];
    expect((await ask(port, '/pods', {key: good.key, cert: good.certificate})).status).toBe(200);
    expect((await ask(port, '/pods', {key: bad.key, cert: bad.certificate})).status).toBe(401);
    expect((await ask(port, '/pods')).status).toBe(401);
  });

  test('serves with the certificate that it was given, and does not start with a broken one', async () => {
    const folder = await scratch('nodeagent-cert-');
    const pki = await loadOrCreatePki({folder, names: ['127.0.0.1']});
    const [cert, key] = [join(folder, 'given.crt'), join(folder, 'given.key')];
    await writeFile(cert, pki.serving.certificate);
    await writeFile(key, pki.serving.key);
    const {port} = await start({flags: [`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`]});
    const socket = tls.connect({host: '127.0.0.1', port, ca: pki.ca.certificate});
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
    await writeFile(key, 'no key');
    await expect(start({flags: [`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`]})).rejects.toThrow();
    await expect(start({flags: [`--tls-cert-file=${folder}/none`, `--tls-private-key-file=${key}`]})).rejects.toThrow(/ENOENT/);
  });

  test('serves no more when it was stopped, followers included', async () => {
    const {server, node, port} = await start();
    await running(node);
    const following = https.get({
      host: '127.0.0.1',
      port,
      path: '/containerLogs/ns/p/c?follow=true',
      rejectUnauthorized: false,
      agent: false,
    });
    const [response] = (await once(following, 'response')) as [IncomingMessage];
    response.on('error', () => {}).resume();
    following.on('error', () => {});
    const gone = new Promise((resolve) => response.on('close', resolve));
    server.stop();
    await gone;
    await expect(ask(port, '/pods')).rejects.toThrow();
  });
});
