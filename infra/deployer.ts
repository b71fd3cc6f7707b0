/** The first administrator: whoever deploys, unless the deployment names others. Without credentials, as in a plain synthesis, nobody. */
import {canonicalArn} from '../shared/auth/aws-iam/identities.ts';
import {presignedIdentityUrl} from '../shared/auth/aws-iam/presign.ts';
import type {Settings} from './settings.ts';

const timeoutMs = 5_000;

/** Deployments that several principals make should name `admins`, else each is the administrator until the next one deploys. */
export async function administrators(settings: Settings, env: NodeJS.ProcessEnv, ask: typeof fetch = fetch): Promise<Settings> {
  const account = env['CDK_DEFAULT_ACCOUNT'];
  const region = env['CDK_DEFAULT_REGION'];
  if (settings.identities.length > 0 || !account || !region) return settings;
  try {
    const arn = canonicalArn(await callerArn(region, env['AWS_ENDPOINT_URL_STS'] ?? env['AWS_ENDPOINT_URL'], ask));
    return {...settings, identities: [{arn, groups: ['system:masters']}]};
  } catch (error) {
    process.stderr.write(
      `nobody will be an administrator: who deploys is not known (${(error as Error).message}); name some with -c admins=ARN\n`,
    );
    return settings;
  }
}

async function callerArn(region: string, endpoint: string | undefined, ask: typeof fetch): Promise<string> {
  const {defaultProvider} = await import('@aws-sdk/credential-provider-node');
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = new URL(endpoint ?? `https://sts.${region}.${domain}`);
  const signed = await presignedIdentityUrl({credentials: await defaultProvider()(), region, host: url.host, now: new Date()});
  const asked = new URL(signed);
  asked.protocol = url.protocol;
  const answer = await ask(asked, {headers: {accept: 'application/json'}, redirect: 'error', signal: AbortSignal.timeout(timeoutMs)});
  const text = await answer.text();
  // JSON from AWS; emulators answer in XML whatever they are asked for.
  const arn = /"Arn":\s*"([^"]+)"|<Arn>([^<]+)<\/Arn>/.exec(text);
  if (!answer.ok || !arn) throw new Error(`STS answers ${answer.status}`);
  return (arn[1] ?? arn[2])!;
}
