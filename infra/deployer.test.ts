import {afterEach, describe, expect, test, vi} from 'vitest';
import {administrators} from './deployer.ts';
import {readSettings} from './settings.ts';

const settings = readSettings(() => undefined);
const env = {CDK_DEFAULT_ACCOUNT: '123456789012', CDK_DEFAULT_REGION: 'eu-west-1'};
const arn = 'arn:aws:sts::123456789012:assumed-role/Deployer/eva';
const admin = [{arn: 'arn:aws:iam::123456789012:role/Deployer', groups: ['system:masters']}];

function sts(text: string, status = 200) {
  const asked: string[] = [];
  const ask = (async (url: URL) => {
    asked.push(String(url));
    return new Response(text, {status});
  }) as typeof fetch;
  return {asked, ask};
}

describe('the first administrator', () => {
  afterEach(() => vi.restoreAllMocks());
  const withCredentials = async (work: () => Promise<void>): Promise<void> => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
    await work().finally(() => vi.unstubAllEnvs());
  };

  test('is who deploys', () =>
    withCredentials(async () => {
      const {asked, ask} = sts(JSON.stringify({GetCallerIdentityResponse: {GetCallerIdentityResult: {Arn: arn}}}));
      expect((await administrators(settings, env, ask)).identities).toEqual(admin);
      expect(asked[0]).toMatch(/^https:\/\/sts\.eu-west-1\.amazonaws\.com\/\?Action=GetCallerIdentity/);
    }));

  test('is who deploys to an emulator, whose answers are XML', () =>
    withCredentials(async () => {
      const {asked, ask} = sts(`<GetCallerIdentityResponse><Arn>${arn}</Arn></GetCallerIdentityResponse>`);
      expect((await administrators(settings, {...env, AWS_ENDPOINT_URL: 'http://127.0.0.1:4566'}, ask)).identities).toEqual(admin);
      expect(asked[0]).toMatch(/^http:\/\/127\.0\.0\.1:4566\//);
    }));

  test('is whom the deployment names, and then nobody is asked', async () => {
    const {asked, ask} = sts('');
    const named = readSettings((key) => (key === 'admins' ? 'arn:aws:iam::123456789012:user/eva' : undefined));
    expect(await administrators(named, env, ask)).toBe(named);
    expect(asked).toEqual([]);
  });

  test('is nobody in a synthesis without an account', async () => {
    expect(await administrators(settings, {}, sts('').ask)).toBe(settings);
  });

  test('is nobody, and that is said, when STS does not know', () =>
    withCredentials(async () => {
      const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      expect((await administrators(settings, env, sts('', 403).ask)).identities).toEqual([]);
      expect(said.mock.calls[0]![0]).toContain('STS answers 403');
    }));
});
