import {describe, expect, test} from 'vitest';
import {changed, genuine, signedAt, tokenOf, urlOf} from './testing.ts';
import {partitionOfRegion, readToken, tokenPrefix} from './token.ts';

const now = signedAt + 1_000;
const read = (token: string, at = now) => readToken(token, 'aws', at);
const minute = 60_000;

describe('a token that a client signed', () => {
  test('is a question to STS, with nothing in the URL that tells the cluster', async () => {
    const {url, accessKeyId, goodUntil} = read(await genuine());
    expect(url).toMatch(/^https:\/\/sts\.eu-west-1\.amazonaws\.com\/\?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-/);
    expect(new URL(url).searchParams.get('X-Amz-SignedHeaders')).toBe('host;x-k8s-aws-id');
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('60');
    expect(url).not.toContain('west&');
    expect(accessKeyId).toBe('AKIDEXAMPLE');
    expect(goodUntil).toBe(signedAt + 15 * minute);
  });

  test('is asked as it was signed, byte for byte', async () => {
    const token = await genuine();
    expect(read(token).url).toBe(urlOf(token));
  });

  test.each([
    ['aws', 'sts.amazonaws.com'],
    ['aws', 'sts.us-east-1.amazonaws.com'],
    ['aws', 'sts-fips.us-east-1.amazonaws.com'],
    ['aws', 'sts.ap-southeast-2.api.aws'],
    ['aws-cn', 'sts.cn-north-1.amazonaws.com.cn'],
    ['aws-us-gov', 'sts.us-gov-west-1.amazonaws.com'],
  ] as const)('in partition %s may name %s', async (partition, host) => {
    expect(readToken(await genuine('west', host), partition, now).url).toContain(`https://${host}/?`);
  });

  test('is good for 15 minutes, whatever it says that it expires in', async () => {
    const token = await genuine();
    expect(() => read(token, signedAt + 15 * minute)).not.toThrow();
    expect(() => read(token, signedAt + 15 * minute + 1)).toThrow('X-Amz-Date parameter is expired (15 minute expiration)');
  });
});

describe('a token that was made to be fetched from elsewhere', () => {
  test.each([
    'evil.example.com',
    'sts.amazonaws.com.evil.example.com',
    'evil.sts.amazonaws.com',
    'sts.eu-west-1.amazonaws.com.cn',
    'sts.evil.amazonaws.com',
    'sts.eu-west-1-.amazonaws.com',
    'sts.eu-west-1.s3.amazonaws.com',
    'bucket.s3.amazonaws.com',
    'sts..amazonaws.com',
    'sts.eu-west-1.amazonaws.com.',
    'stsxamazonaws.com',
    'sts.us-gov-west-1.amazonaws.com',
    'sts.cn-north-1.amazonaws.com.cn',
    '169.254.169.254',
    'localhost',
    'api.aws',
  ])('%s is no host of STS in this partition', async (host) => {
    const token = await changed((url) => url.replace('sts.eu-west-1.amazonaws.com', host));
    expect(() => read(token)).toThrow('unexpected hostname');
  });

  test.each([
    ['plain HTTP', (url: string) => url.replace('https:', 'http:')],
    ['another scheme', (url: string) => url.replace('https:', 'file:')],
    ['a port', (url: string) => url.replace('.com/', '.com:8443/')],
    ['the usual port', (url: string) => url.replace('.com/', '.com:443/')],
    ['a user name', (url: string) => url.replace('https://', 'https://user@')],
    [
      'a user name that looks like the host',
      (url: string) => url.replace('https://sts', 'https://sts.amazonaws.com:x@evil.example.com/sts'),
    ],
    ['a path', (url: string) => url.replace('/?', '/path?')],
    ['an encoded path', (url: string) => url.replace('/?', '/%2e%2e/?')],
    ['no path', (url: string) => url.replace('/?', '?')],
    ['two slashes', (url: string) => url.replace('/?', '//?')],
    ['a backslash', (url: string) => url.replace('https://', 'https:\\\\')],
    ['a backslash before the host', (url: string) => url.replace('https://', 'https://evil.example.com\\@')],
    ['a fragment', (url: string) => `${url}#x`],
    ['white space in front', (url: string) => ` ${url}`],
    ['a line break', (url: string) => url.replace('&', '\r\n&')],
    ['a tab in the host', (url: string) => url.replace('sts.', 'st\ts.')],
    ['a NUL', (url: string) => `${url}\0`],
    ['upper case in the host', (url: string) => url.replace('sts.', 'STS.')],
    ['letters that only look like it', (url: string) => url.replace('sts.', 'ѕts.')],
    ['no query', (url: string) => url.replace(/\?.*/, '')],
    ['an empty query', (url: string) => url.replace(/\?.*/, '?')],
    ['no URL at all', () => 'not a url'],
  ])('%s is refused before anybody is asked', async (_what, change) => {
    const token = await changed(change);
    expect(() => read(token)).toThrow('input token was not properly formatted');
  });
});

describe('a token that asks STS for something else', () => {
  test.each([
    ['another action', (url: string) => url.replace('GetCallerIdentity', 'AssumeRole'), 'unexpected action'],
    ['no action', (url: string) => url.replace('Action=GetCallerIdentity&', ''), 'unexpected action'],
    ['a parameter that nobody knows', (url: string) => `${url}&RoleArn=x`, 'non-whitelisted query parameter "rolearn"'],
    ['a parameter twice', (url: string) => `${url}&Action=GetCallerIdentity`, 'multiple values not supported: action'],
    ['a parameter twice, in another case', (url: string) => `${url}&action=AssumeRole`, 'multiple values not supported: action'],
    ['a parameter twice, once escaped', (url: string) => `${url}&%41ction=AssumeRole`, 'multiple values not supported: action'],
    ['a semicolon', (url: string) => `${url};x=y`, 'malformed'],
    ['a parameter without a value', (url: string) => `${url}&Version`, 'malformed'],
    ['a bad escape', (url: string) => url.replace('AKID', '%zz'), 'malformed'],
    ['no cluster among the signed headers', (url: string) => url.replace('%3Bx-k8s-aws-id', ''), 'did not sign the x-k8s-aws-id header'],
    ['a header whose name only begins so', (url: string) => url.replace('x-k8s-aws-id', 'x-k8s-aws-id-2'), 'did not sign'],
    ['more than 15 minutes', (url: string) => url.replace('Expires=60', 'Expires=901'), 'invalid X-Amz-Expires'],
    ['negative minutes', (url: string) => url.replace('Expires=60', 'Expires=-1'), 'invalid X-Amz-Expires'],
    ['a number of another kind', (url: string) => url.replace('Expires=60', 'Expires=6e1'), 'invalid X-Amz-Expires'],
    ['no expiry', (url: string) => url.replace('&X-Amz-Expires=60', ''), 'invalid X-Amz-Expires'],
    ['no date', (url: string) => url.replace(/&X-Amz-Date=[^&]+/, ''), 'error parsing X-Amz-Date'],
    ['a day that there is not', (url: string) => url.replace('20260501T', '20260231T'), 'error parsing X-Amz-Date'],
    ['a date in another form', (url: string) => url.replace('20260501T120000Z', '2026-05-01'), 'error parsing X-Amz-Date'],
  ])('%s is refused', async (_what, change, message) => {
    const token = await changed(change);
    expect(() => read(token)).toThrow(message);
  });
});

describe('a token that is none', () => {
  test.each([
    ['too long', tokenOf(`https://sts.amazonaws.com/?${'a'.repeat(4_096)}`), 'token is too large'],
    ['without the prefix', 'k8s-aws-v2.aHR0cHM', 'missing expected "k8s-aws-v1." prefix'],
    ['with padding', `${tokenPrefix}aHR0cHM6Lw==`, 'illegal base64'],
    ['in the other base64', `${tokenPrefix}a+/a`, 'illegal base64'],
    ['empty', tokenPrefix, 'illegal base64'],
  ])('%s is refused', (_what, token, message) => {
    expect(() => read(token)).toThrow(message);
  });
});

test('a region tells its partition', () => {
  expect(['eu-west-1', 'cn-north-1', 'us-gov-east-1'].map(partitionOfRegion)).toEqual(['aws', 'aws-cn', 'aws-us-gov']);
});
