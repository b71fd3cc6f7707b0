import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../clock.ts';
import {TokenAuthenticator} from '../tokens.ts';
import type {Identity} from './identities.ts';
import type {Fetch, FetchAnswer} from './sts.ts';
import {changed, genuine, signedAt} from './testing.ts';
import {AwsTokenVerifier} from './token-verifier.ts';

const minute = 60_000;
const role = 'arn:aws:iam::123456789012:role/Admin';
const identities: Identity[] = [{arn: role, groups: ['system:masters']}];

const says = (identity: object, status = 200): FetchAnswer => ({
  status,
  text: async () => JSON.stringify({GetCallerIdentityResponse: {GetCallerIdentityResult: identity, ResponseMetadata: {}}}),
});
const admin = {
  Account: '123456789012',
  Arn: 'arn:aws:sts::123456789012:assumed-role/Admin/eva@example.com',
  UserId: 'AROAEXAMPLE:eva@example.com',
};

function setup(answer: () => FetchAnswer | Promise<FetchAnswer> = () => says(admin), known = identities) {
  const clock = new ManualClock(signedAt + 1_000);
  const asked: Parameters<Fetch>[] = [];
  const fetch: Fetch = async (...call) => {
    asked.push(call);
    return answer();
  };
  return {clock, asked, verifier: new AwsTokenVerifier({cluster: 'west', identities: known, partition: 'aws', fetch, clock})};
}

describe('an AWS identity', () => {
  test('is the user that the deployment says, whatever the session', async () => {
    const {verifier} = setup();
    expect(await verifier.verify(await genuine())).toEqual({
      user: {
        name: role,
        uid: 'aws-iam-authenticator:123456789012:AROAEXAMPLE',
        groups: ['system:masters', 'system:authenticated'],
        extra: {
          accessKeyId: ['AKIDEXAMPLE'],
          arn: [admin.Arn],
          canonicalArn: [role],
          principalId: ['AROAEXAMPLE'],
          sessionName: ['eva@example.com'],
        },
      },
    });
  });

  test('may be named by its session and account', async () => {
    const {verifier} = setup(undefined, [{arn: role, username: 'aws:{{AccountID}}:{{SessionName}}', groups: []}]);
    expect(await verifier.verify(await genuine())).toMatchObject({user: {name: 'aws:123456789012:eva-example.com'}});
  });

  test('is found by the canonical ARN, also when the deployment wrote another form', async () => {
    const {verifier} = setup(undefined, [{arn: 'arn:aws:iam::123456789012:role/team/path/Admin', groups: ['x']}]);
    expect(await verifier.verify(await genuine())).toMatchObject({user: {groups: ['x', 'system:authenticated']}});
  });

  test('that nobody mapped is nobody', async () => {
    const {verifier} = setup(() => says({...admin, Arn: 'arn:aws:iam::123456789012:user/mallory'}));
    expect(await verifier.verify(await genuine())).toEqual({error: 'ARN is not mapped: arn:aws:iam::123456789012:user/mallory'});
  });

  test.each([
    'arn:aws:iam::999999999999:role/Admin',
    'arn:aws-cn:iam::123456789012:role/Admin',
    'arn:aws:iam::123456789012:user/Admin',
  ])('%s is not the role of that name', async (Arn) => {
    expect(await setup(() => says({...admin, Arn})).verifier.verify(await genuine())).toHaveProperty('error');
  });
});

describe('what STS is asked', () => {
  test('carries our cluster, asks for JSON, follows no redirect, and ends', async () => {
    const {verifier, asked} = setup();
    await verifier.verify(await genuine('east'));
    const [url, init] = asked[0]!;
    expect(new URL(url).host).toBe('sts.eu-west-1.amazonaws.com');
    expect(init.headers).toEqual({'x-k8s-aws-id': 'west', accept: 'application/json'});
    expect(init.redirect).toBe('manual');
    expect(init.signal.aborted).toBe(false);
  });

  test('a token that is malformed asks nobody', async () => {
    const {verifier, asked} = setup();
    const token = await changed((url) => url.replace('sts.eu-west-1.amazonaws.com', 'evil.example.com'));
    expect(await verifier.verify(token)).toHaveProperty('error');
    expect(asked).toHaveLength(0);
  });

  test('other tokens are somebody else’s', async () => {
    expect(await setup().verifier.verify('eyJhbGciOi')).toBe('not ours');
  });

  test.each([
    ['a redirect', () => says(admin, 302), 'expected 200, got 302'],
    ['a refusal', () => says({}, 403), 'expected 200, got 403'],
    ['throttling', () => ({status: 400, text: async () => '<Code>Throttling</Code>'}), 'throttling'],
    ['no JSON', () => ({status: 200, text: async () => '<xml/>'}), 'did not answer in JSON'],
    ['no identity', () => says({Account: '1'}), 'without an identity'],
    ['an endless answer', () => ({status: 200, text: async () => ' '.repeat(100_000)}), 'too great length'],
    ['no answer', () => Promise.reject(new TypeError('fetch failed')), 'could not be reached'],
  ])('%s lets nobody in', async (_what, answer, message) => {
    const {verifier} = setup(answer);
    const token = await genuine();
    expect(await verifier.verify(token)).toEqual({error: expect.stringContaining(message)});
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('is given up after ten seconds', async () => {
    const clock = new ManualClock(signedAt);
    const fetch: Fetch = (_url, {signal}) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(new Error('aborted'))));
    const verifier = new AwsTokenVerifier({cluster: 'west', identities, partition: 'aws', fetch, clock});
    const verified = verifier.verify(await genuine());
    clock.advance(10_000);
    expect(await verified).toEqual({error: 'STS did not answer in time'});
  });
});

describe('what was verified', () => {
  test('is remembered until the token is 15 minutes old, not longer', async () => {
    const {verifier, clock, asked} = setup();
    const token = await genuine();
    await verifier.verify(token);
    clock.advance(13 * minute);
    expect(verifier.cached(token)).toBeDefined();
    await verifier.verify(token);
    expect(asked).toHaveLength(1);
    clock.advance(2 * minute);
    expect(verifier.cached(token)).toBeUndefined();
    expect(await verifier.verify(token)).toEqual({error: expect.stringContaining('expired')});
    expect(asked).toHaveLength(1);
  });

  test('a date in the future is not trusted for longer', async () => {
    const {verifier, clock} = setup();
    const token = await changed((url) => url.replace('20260501T', '20270501T'));
    await verifier.verify(token);
    expect(verifier.cached(token)).toBeDefined();
    clock.advance(15 * minute);
    expect(verifier.cached(token)).toBeUndefined();
  });

  test('another token of the same principal is asked about', async () => {
    const {verifier, asked} = setup();
    await verifier.verify(await genuine());
    await verifier.verify(await genuine('west', 'sts.amazonaws.com'));
    expect(asked).toHaveLength(2);
  });

  test('many requests with a new token ask once', async () => {
    const {verifier, asked} = setup();
    const token = await genuine();
    const all = await Promise.all(Array.from({length: 50}, () => verifier.verify(token)));
    expect(asked).toHaveLength(1);
    expect(new Set(all).size).toBe(1);
  });

  test('a refusal is remembered for half a minute, trouble is not', async () => {
    let status = 500;
    const {verifier, clock, asked} = setup(() => says(admin, status));
    const token = await genuine();
    await verifier.verify(token);
    status = 403;
    await verifier.verify(token);
    expect(asked).toHaveLength(2);
    await verifier.verify(token);
    expect(asked).toHaveLength(2);
    clock.advance(30_000);
    status = 200;
    expect(await verifier.verify(token)).toHaveProperty('user');
  });
});

describe('among tokens of other kinds', () => {
  const audiences = ['https://kubernetes.default.svc'];

  test('it is a bearer token for this server, and for no other audience', async () => {
    const tokens = new TokenAuthenticator({audiences, awsIam: setup().verifier});
    const token = await genuine();
    expect(tokens.known(token)).toBeUndefined();
    expect(await tokens.authenticate(token)).toMatchObject({user: {name: role}, audiences});
    expect(tokens.known(token)).toMatchObject({name: role});
    expect(await tokens.authenticate(token, ['vault'])).toEqual({error: 'invalid bearer token'});
  });

  test('TokenReview is told why not', async () => {
    const tokens = new TokenAuthenticator({audiences, awsIam: setup(() => says({}, 403)).verifier});
    expect(await tokens.authenticate(await genuine())).toEqual({error: '[invalid bearer token, error from AWS (expected 200, got 403)]'});
  });
});
