import type {IncomingMessage} from 'node:http';
import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {serviceUnavailable} from '../../shared/errors.ts';
import type {ApiClient} from '../api/client.ts';
import {Access, type AccessOptions} from './access.ts';

interface Review {
  kind: 'TokenReview' | 'SubjectAccessReview';
  // biome-ignore lint/suspicious/noExplicitAny: whatever was asked
  spec: any;
}

const tokenTtlMs = 120_000;
const allowedTtlMs = 300_000;
const deniedTtlMs = 30_000;

/** An API server that knows one token, and lets whom it is told to. */
function server(allows: (attributes: {verb: string; subresource: string}) => boolean = () => true) {
  const asked: Review[] = [];
  const state = {isGone: false};
  const client = {
    request: async (_method: string, _path: string, {body}: {body: Review}) => {
      if (state.isGone) throw serviceUnavailable('nobody answers');
      asked.push(body);
      if (body.kind === 'SubjectAccessReview') return {status: {allowed: allows(body.spec.resourceAttributes)}};
      const user = {username: 'alice', uid: 'u-1', groups: ['admins', 'system:authenticated'], extra: {scopes: ['all']}};
      return {status: body.spec.token === 'good' ? {authenticated: true, user} : {authenticated: false, error: 'no such token'}};
    },
  } as unknown as ApiClient;
  return {client, asked, state, of: (kind: Review['kind']) => asked.filter((review) => review.kind === kind)};
}

function accessOf(client: ApiClient | undefined, clock = new ManualClock(), more: Partial<AccessOptions> = {}): Access {
  return new Access({
    ...{client, clock, node: 'n1', anonymous: false, tokens: true, mode: 'Webhook'},
    ...{tokenTtlMs, allowedTtlMs, deniedTtlMs},
    ...more,
  });
}

const bearer = (token: string) => ({authorization: `Bearer ${token}`});
const requestOf = (headers: Record<string, string> = {}, method = 'GET', socket: object = {}): IncomingMessage =>
  ({method, headers, socket}) as unknown as IncomingMessage;
const certificate = (subject: object, authorized = true) => ({authorized, getPeerCertificate: () => ({subject})});

describe('who asks the agent', () => {
  test('a token is asked about once in its time, and the answer goes into the question of rights', async () => {
    const api = server();
    const clock = new ManualClock();
    const access = accessOf(api.client, clock);
    expect(await access.check(requestOf(bearer('good')), '/pods')).toMatchObject({status: 200, user: {name: 'alice'}});
    expect(await access.check(requestOf(bearer('good')), '/pods')).toMatchObject({status: 200});
    expect(api.of('TokenReview')).toHaveLength(1);
    expect(api.of('SubjectAccessReview').map(({spec}) => spec)).toEqual([
      {
        ...{user: 'alice', uid: 'u-1', groups: ['admins', 'system:authenticated'], extra: {scopes: ['all']}},
        resourceAttributes: {verb: 'get', version: 'v1', resource: 'nodes', subresource: 'proxy', name: 'n1'},
      },
    ]);
    clock.advance(tokenTtlMs);
    await access.check(requestOf(bearer('good')), '/pods');
    expect(api.of('TokenReview')).toHaveLength(2);
  });

  test('a wrong token is nobody, even where nobody is let in', async () => {
    const api = server();
    const access = accessOf(api.client, new ManualClock(), {anonymous: true});
    expect(await access.check(requestOf(bearer('bad')), '/pods')).toEqual({status: 401, text: 'Unauthorized'});
    expect(await access.check(requestOf(bearer('bad')), '/pods')).toMatchObject({status: 401});
    expect(api.of('TokenReview')).toHaveLength(1);
    expect(api.of('SubjectAccessReview')).toHaveLength(0);
  });

  test('nobody is system:anonymous where that is allowed, and 401 where it is not', async () => {
    const api = server();
    const open = accessOf(api.client, new ManualClock(), {anonymous: true});
    expect(await open.check(requestOf(), '/pods')).toMatchObject({status: 200, user: {name: 'system:anonymous'}});
    expect(api.of('SubjectAccessReview')[0]!.spec).toMatchObject({user: 'system:anonymous', groups: ['system:unauthenticated']});
    expect(await accessOf(api.client).check(requestOf(), '/pods')).toEqual({status: 401, text: 'Unauthorized'});
  });

  test('a token is not looked at where tokens are off', async () => {
    const api = server();
    const access = accessOf(api.client, new ManualClock(), {tokens: false});
    expect(await access.check(requestOf(bearer('good')), '/pods')).toMatchObject({status: 401});
    expect(api.asked).toEqual([]);
  });

  test('a certificate that our CA signed comes first, its organisations are groups; another CA’s is none', async () => {
    const access = accessOf(undefined, new ManualClock(), {mode: 'AlwaysAllow'});
    const subject = {CN: 'kube-apiserver', O: ['system:masters', 'ops']};
    expect(await access.check(requestOf(bearer('bad'), 'GET', certificate(subject)), '/pods')).toEqual({
      status: 200,
      user: {name: 'kube-apiserver', groups: ['system:masters', 'ops', 'system:authenticated']},
    });
    expect(await access.check(requestOf({}, 'GET', certificate({CN: 'one', O: 'alone'})), '/pods')).toMatchObject({
      user: {groups: ['alone', 'system:authenticated']},
    });
    expect(await access.check(requestOf({}, 'GET', certificate(subject, false)), '/pods')).toMatchObject({status: 401});
    expect(await access.check(requestOf({}, 'GET', certificate({O: 'no name'})), '/pods')).toMatchObject({status: 401});
  });

  test('whom nobody can be asked about is not known, and that is not remembered', async () => {
    const api = server();
    const access = accessOf(api.client);
    api.state.isGone = true;
    expect(await access.check(requestOf(bearer('good')), '/pods')).toEqual({status: 401, text: 'Unauthorized'});
    api.state.isGone = false;
    expect(await access.check(requestOf(bearer('good')), '/pods')).toMatchObject({status: 200});
    expect(await accessOf(undefined).check(requestOf(bearer('good')), '/pods')).toMatchObject({status: 401});
  });
});

describe('whether they may', () => {
  test.each([
    ['/stats/summary', 'stats'],
    ['/metrics', 'metrics'],
    ['/metrics/cadvisor', 'metrics'],
    ['/logs/syslog', 'log'],
    ['/spec/', 'spec'],
    ['/pods', 'proxy'],
    ['/exec/ns/p/c', 'proxy'],
    ['/containerLogs/ns/p/c', 'proxy'],
    ['/healthz', 'proxy'],
    ['/configz', 'proxy'],
    ['/nothing', 'proxy'],
    ['/statsistics', 'proxy'],
    ['/constructor', 'proxy'],
    ['/', 'proxy'],
  ])('%s is nodes/%s', async (path, subresource) => {
    const api = server();
    await accessOf(api.client).check(requestOf(bearer('good')), path);
    expect(api.of('SubjectAccessReview').map(({spec}) => spec.resourceAttributes.subresource)).toEqual([subresource]);
  });

  test.each([
    ['GET', 'get'],
    ['POST', 'create'],
    ['PUT', 'update'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
    ['HEAD', ''],
  ])('%s is the verb "%s"', async (method, verb) => {
    const api = server();
    await accessOf(api.client).check(requestOf(bearer('good'), method), '/pods');
    expect(api.of('SubjectAccessReview')[0]!.spec.resourceAttributes.verb).toBe(verb);
  });

  test('who may not is told as whom they asked for what', async () => {
    const api = server(() => false);
    expect(await accessOf(api.client).check(requestOf(bearer('good'), 'POST'), '/exec/ns/p/c')).toEqual({
      status: 403,
      text: 'Forbidden (user=alice, verb=create, resource=nodes, subresource=proxy)',
    });
  });

  test('a right to a part of the proxy is enough for that part', async () => {
    const api = server(({subresource}) => subresource === 'pods' || subresource === 'healthz');
    const access = accessOf(api.client);
    const statusOf = async (path: string) => (await access.check(requestOf(bearer('good')), path)).status;
    expect([await statusOf('/pods'), await statusOf('/runningpods/'), await statusOf('/healthz/ping')]).toEqual([200, 200, 200]);
    expect([await statusOf('/configz'), await statusOf('/exec/ns/p/c'), await statusOf('/metrics')]).toEqual([403, 403, 403]);
  });

  test('a yes is believed for longer than a no, and neither for ever', async () => {
    let allowed = false;
    const api = server(() => allowed);
    const clock = new ManualClock();
    const access = accessOf(api.client, clock, {tokenTtlMs: Number.POSITIVE_INFINITY});
    const statusNow = async () => (await access.check(requestOf(bearer('good')), '/metrics')).status;
    expect(await statusNow()).toBe(403);
    allowed = true;
    clock.advance(deniedTtlMs - 1);
    expect(await statusNow()).toBe(403);
    clock.advance(1);
    expect(await statusNow()).toBe(200);
    allowed = false;
    clock.advance(allowedTtlMs - 1);
    expect(await statusNow()).toBe(200);
    clock.advance(1);
    expect(await statusNow()).toBe(403);
  });

  test('a clock that is set back makes no yes last longer', async () => {
    let allowed = true;
    const api = server(() => allowed);
    const clock = {time: 10_000_000, now: () => clock.time, after: () => () => {}};
    const access = accessOf(api.client, clock as never);
    expect(await access.check(requestOf(bearer('good')), '/metrics')).toMatchObject({status: 200});
    allowed = false;
    clock.time -= 3_600_000;
    expect(await access.check(requestOf(bearer('good')), '/metrics')).toMatchObject({status: 403});
  });

  test('an answer that cannot be had is a 500, which is not remembered', async () => {
    const api = server();
    const access = accessOf(api.client, new ManualClock(), {anonymous: true});
    api.state.isGone = true;
    const verdict = await access.check(requestOf(), '/metrics');
    expect(verdict).toEqual({
      status: 500,
      text: 'Authorization error (user=system:anonymous, verb=get, resource=nodes, subresource=metrics): nobody answers',
    });
    api.state.isGone = false;
    expect(await access.check(requestOf(), '/metrics')).toMatchObject({status: 200});
  });

  test('without an API server the gate is shut, unless everything is allowed', async () => {
    expect(await accessOf(undefined, new ManualClock(), {anonymous: true}).check(requestOf(), '/pods')).toMatchObject({status: 403});
    const open = accessOf(undefined, new ManualClock(), {anonymous: true, mode: 'AlwaysAllow'});
    expect(await open.check(requestOf(), '/exec/a/b/c')).toMatchObject({status: 200});
  });

  test('callers without number do not fill the memory', async () => {
    const api = server();
    const access = accessOf(api.client);
    for (let index = 0; index < 5000; index++) await access.check(requestOf(bearer(`guess-${index}`)), '/pods');
    await access.check(requestOf(bearer('guess-4999')), '/pods');
    expect(api.of('TokenReview')).toHaveLength(5000);
    await access.check(requestOf(bearer('guess-0')), '/pods');
    expect(api.of('TokenReview')).toHaveLength(5001);
  });
});
