import {generateKeyPairSync} from 'node:crypto';
import {describe, expect, test} from 'vitest';
import {ManualClock} from '../clock.ts';
import type {ApiRequest} from '../http/messages.ts';
import {createAuthenticator} from './authenticate.ts';
import {bearerProtocolPrefix, extraSpaceWarning} from './bearer.ts';
import {TokenIssuer} from './service-account/issuer.ts';
import {type SigningKey, signingKey} from './service-account/keys.ts';
import {ServiceAccountVerifier} from './service-account/verifier.ts';
import {refusalOf} from './testing.ts';
import {TokenAuthenticator} from './tokens.ts';
import {anonymous, type UserInfo} from './user.ts';

const issuer = 'https://kubernetes.default.svc';
// Keys take a moment to make, and none of these stories is about a particular one.
const ours = signingKey();

function setUp(options: {anonymous?: boolean; key?: SigningKey} = {}) {
  const key = options.key ?? ours;
  const clock = new ManualClock();
  const objects = new Map<string, {uid: string; deletionTimestamp?: string}>([
    ['serviceaccounts/ns/robot', {uid: 'u1'}],
    ['secrets/ns/s', {uid: 'u2'}],
    ['pods/ns/p', {uid: 'u3'}],
    ['nodes//n', {uid: 'u4'}],
  ]);
  let lookups = 0;
  const serviceAccounts = new ServiceAccountVerifier({
    keys: [key],
    issuers: [issuer],
    audiences: [issuer],
    clock,
    objects: {
      async get(resource, namespace, name) {
        lookups++;
        return objects.get(`${resource}/${namespace}/${name}`);
      },
    },
  });
  const staticTokens = new Map<string, UserInfo>([['tok', {name: 'admin', uid: 'a', groups: ['system:masters']}]]);
  const tokens = new TokenAuthenticator({staticTokens, serviceAccounts, audiences: [issuer]});
  const authenticate = createAuthenticator({tokens, ...(options.anonymous === false && {anonymous: false})});
  const tokenFor = async (
    bound: Partial<Parameters<TokenIssuer['issue']>[0]> = {},
    terms: Partial<Parameters<TokenIssuer['issue']>[1]> = {},
    signer = key,
  ) =>
    (
      await new TokenIssuer(issuer, signer).issue(
        {namespace: 'ns', serviceAccount: {name: 'robot', uid: 'u1'}, ...bound},
        {audiences: [issuer], now: clock.now(), expirationSeconds: 3_600, ...terms},
      )
    ).token;
  return {clock, objects, serviceAccounts, tokens, authenticate, tokenFor, lookups: () => lookups};
}

const request = (headers: Record<string, string> = {}, more: Partial<ApiRequest> = {}): ApiRequest => ({
  method: 'GET',
  path: '/api',
  query: [],
  headers,
  ...more,
});
const bearer = (token: string) => request({authorization: `Bearer ${token}`});
const unauthorized = {code: 401, reason: 'Unauthorized', message: 'Unauthorized'};

describe('certificates', () => {
  const certificate = {subject: {commonName: 'jane', organizations: ['devs', 'ops']}, fingerprint: 'ab12'};

  test('say the user and the groups', () => {
    const {authenticate} = setUp();
    const user = authenticate(request({}, {peer: {certificate}}));
    expect(user).toEqual({
      name: 'jane',
      groups: ['devs', 'ops', 'system:authenticated'],
      extra: {'authentication.kubernetes.io/credential-id': ['X509SHA256=ab12']},
    });
    expect(authenticate(request({}, {peer: {certificate}}))).toBe(user);
  });

  test('that nobody vouches for are refused, unless a token speaks for the request', async () => {
    const {authenticate} = setUp();
    const peer = {certificateError: 'unknown issuer'};
    expect((await refusalOf(() => authenticate(request({}, {peer})))).status).toMatchObject(unauthorized);
    expect(authenticate(request({authorization: 'Bearer tok'}, {peer}))).toMatchObject({name: 'admin'});
  });

  test('without a name are nobody', () => {
    const nameless = {...certificate, subject: {commonName: '', organizations: ['system:masters']}};
    expect(setUp().authenticate(request({}, {peer: {certificate: nameless}}))).toBe(anonymous);
  });
});

describe('bearer tokens', () => {
  test('of the token file are known at once', () => {
    expect(setUp().authenticate(bearer('tok'))).toEqual({name: 'admin', uid: 'a', groups: ['system:masters', 'system:authenticated']});
  });

  test('that are wrong are refused even where none would do', async () => {
    const {authenticate} = setUp();
    for (const wrong of ['nope', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', '..', `${'x'.repeat(100_000)}.y.z`])
      expect((await refusalOf(() => authenticate(bearer(wrong)))).status).toMatchObject(unauthorized);
    expect(authenticate(request())).toBe(anonymous);
  });

  test('no credential at all is refused where anonymous requests are', async () => {
    expect((await refusalOf(() => setUp({anonymous: false}).authenticate(request()))).status).toMatchObject(unauthorized);
  });

  test('of other schemes are passed over, and a space too many is warned of', () => {
    const {authenticate} = setUp();
    expect(authenticate(request({authorization: 'Basic Zm9vOmJhcg=='}))).toBe(anonymous);
    expect(authenticate(request({authorization: 'bearer tok x'}))).toMatchObject({name: 'admin'});
    expect(authenticate(request({authorization: 'Bearer'}))).toBe(anonymous);
    const warnings: string[] = [];
    expect(authenticate(request({authorization: 'Bearer  tok'}), (text) => warnings.push(text))).toBe(anonymous);
    expect(warnings).toEqual([extraSpaceWarning]);
  });

  test('may come as a subprotocol of a WebSocket, beside one that can be answered', async () => {
    const {authenticate} = setUp();
    const protocol = `${bearerProtocolPrefix}${Buffer.from('tok').toString('base64url')}`;
    const upgrade = (protocols: string) => request({connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocols});
    expect(authenticate(upgrade(`v5.channel.k8s.io, ${protocol}`))).toMatchObject({name: 'admin'});
    expect(authenticate(request({'sec-websocket-protocol': `x, ${protocol}`}))).toBe(anonymous);
    expect(authenticate(upgrade('v5.channel.k8s.io'))).toBe(anonymous);
    for (const bad of [protocol, `${protocol}, ${protocol}, x`, `x, ${bearerProtocolPrefix}!`, `x, ${bearerProtocolPrefix}_w`])
      expect((await refusalOf(() => authenticate(upgrade(bad)))).status).toMatchObject(unauthorized);
  });

  test('an in-process caller is who they say', () => {
    const user = {name: 'me', groups: []};
    expect(setUp().authenticate(request({authorization: 'Bearer nope'}, {user}))).toBe(user);
  });
});

describe('service accounts', () => {
  test('a token says the account and what it is bound to', async () => {
    const {authenticate, tokenFor} = setUp();
    const token = await tokenFor({pod: {name: 'p', uid: 'u3'}, node: {name: 'n', uid: 'u4'}});
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
    expect(Object.keys(claims)).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'kubernetes.io', 'nbf', 'sub']);
    expect(claims['kubernetes.io']).toEqual({
      namespace: 'ns',
      node: {name: 'n', uid: 'u4'},
      pod: {name: 'p', uid: 'u3'},
      serviceaccount: {name: 'robot', uid: 'u1'},
    });
    expect(await authenticate(bearer(token))).toEqual({
      name: 'system:serviceaccount:ns:robot',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`],
        'authentication.kubernetes.io/node-name': ['n'],
        'authentication.kubernetes.io/node-uid': ['u4'],
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['u3'],
      },
    });
  });

  test('a token seen before costs no look-up and gives the same user', async () => {
    const {authenticate, tokenFor, lookups} = setUp();
    const token = await tokenFor();
    const user = await authenticate(bearer(token));
    const before = lookups();
    expect(authenticate(bearer(token))).toBe(user);
    expect(lookups()).toBe(before);
  });

  test('RSA keys sign too', async () => {
    const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048});
    const {authenticate, tokenFor} = setUp({key: signingKey(privateKey.export({type: 'pkcs1', format: 'pem'}) as string)});
    const token = await tokenFor();
    expect(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())).toMatchObject({alg: 'RS256'});
    expect(await authenticate(bearer(token))).toMatchObject({name: 'system:serviceaccount:ns:robot'});
  });

  const invalid = async (tokens: TokenAuthenticator, token: string) => (await tokens.authenticate(token)).error;

  test('times are kept, give or take a minute', async () => {
    const {clock, tokens, authenticate, tokenFor} = setUp();
    const token = await tokenFor();
    await authenticate(bearer(token));
    clock.advance(3_600_000 + 59_000);
    expect((await tokens.authenticate(token)).user).toBeDefined();
    clock.advance(2_000);
    expect(await invalid(tokens, token)).toBe('[invalid bearer token, service account token has expired]');
    expect((await refusalOf(() => authenticate(bearer(token)))).status.code).toBe(401);
    const early = await tokenFor({}, {now: clock.now() + 70_000});
    expect(await invalid(tokens, early)).toBe('[invalid bearer token, service account token is not valid yet]');
  });

  test('a token for others is not for us', async () => {
    const {tokens, authenticate, tokenFor} = setUp();
    const token = await tokenFor({}, {audiences: ['aud-x']});
    expect((await refusalOf(() => authenticate(bearer(token)))).status.code).toBe(401);
    expect(await invalid(tokens, token)).toBe(
      `[invalid bearer token, token audiences ["aud-x"] is invalid for the target audiences ["${issuer}"]]`,
    );
    expect(await tokens.authenticate(token, ['aud-x', 'y'])).toMatchObject({audiences: ['aud-x'], user: {uid: 'u1'}});
    // Being shown to a review has not made it good for requests.
    expect((await refusalOf(() => authenticate(bearer(token)))).status.code).toBe(401);
  });

  test('a signature of somebody else is refused', async () => {
    const {tokens, tokenFor} = setUp();
    const [header, payload, signature] = (await tokenFor()).split('.') as [string, string, string];
    const broken = '[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]';
    expect(await invalid(tokens, [header, payload, `${signature.slice(0, -4)}AAAA`].join('.'))).toBe(broken);
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    expect(await invalid(tokens, [unsigned, payload, ''].join('.'))).toBe(broken);
    const other = await tokenFor({}, {}, signingKey());
    expect(await invalid(tokens, other)).toBe('[invalid bearer token, invalid signature, no keys found]');
    const elsewhere = Buffer.from('{"iss":"https://else.where"}').toString('base64url');
    expect(await invalid(tokens, [header, elsewhere, signature].join('.'))).toBe('invalid bearer token');
  });

  test('a deleted account takes its tokens along, at once when it is told', async () => {
    const {clock, objects, tokens, serviceAccounts, tokenFor} = setUp();
    const token = await tokenFor();
    await tokens.authenticate(token);
    objects.delete('serviceaccounts/ns/robot');
    expect(tokens.known(token)).toBeDefined();
    clock.advance(10_000);
    expect(await invalid(tokens, token)).toBe('[invalid bearer token, serviceaccounts "robot" not found]');
    objects.set('serviceaccounts/ns/robot', {uid: 'u9'});
    expect(await invalid(tokens, token)).toBe('[invalid bearer token, service account UID (u9) does not match claim (u1)]');
    objects.set('serviceaccounts/ns/robot', {uid: 'u1'});
    await tokens.authenticate(token);
    serviceAccounts.forget('serviceaccounts', 'ns/robot');
    expect(tokens.known(token)).toBeUndefined();
  });

  test.each([
    ['secret', 'secrets/ns/s', {secret: {name: 's', uid: 'u2'}}],
    ['pod', 'pods/ns/p', {pod: {name: 'p', uid: 'u3'}}],
    ['node', 'nodes//n', {node: {name: 'n', uid: 'u4'}}],
  ])('a token bound to a %s lives as long as it', async (word, key, bound) => {
    const {objects, tokens, serviceAccounts, clock, tokenFor} = setUp();
    const token = await tokenFor(bound);
    const uid = objects.get(key)!.uid;
    expect((await tokens.authenticate(token)).user).toBeDefined();
    const resource = key.split('/')[0] as 'pods';
    const again = () => {
      serviceAccounts.forget(resource, key.slice(resource.length + 1).replace(/^\//, ''));
      return invalid(tokens, token);
    };
    objects.set(key, {uid: 'other'});
    expect(await again()).toBe(`[invalid bearer token, ${word} UID (other) does not match service account ${word} ref claim (${uid})]`);
    objects.set(key, {uid, deletionTimestamp: new Date(clock.now() - 30_000).toISOString()});
    expect(await again()).toBeUndefined();
    objects.set(key, {uid, deletionTimestamp: new Date(clock.now() - 61_000).toISOString()});
    expect(await again()).toBe('[invalid bearer token, service account token has been invalidated]');
    objects.delete(key);
    expect(await again()).toBe('[invalid bearer token, service account token has been invalidated]');
  });

  test('what is forgotten while it is being looked up is not trusted', async () => {
    const {objects, tokens, tokenFor, serviceAccounts} = setUp();
    const token = await tokenFor();
    const get = objects.get.bind(objects);
    objects.get = (key) => {
      serviceAccounts.forget('serviceaccounts', 'ns/robot');
      return get(key);
    };
    expect((await tokens.authenticate(token)).user).toBeDefined();
    expect(tokens.known(token)).toBeUndefined();
  });
});
