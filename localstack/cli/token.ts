/**
 * `clusterless token`: what kubectl runs before it talks to a cluster on AWS. Signs who you are with your AWS credentials, for one cluster,
 * and prints it as the exec credential protocol wants. Asks nobody but where the credentials come from.
 */
import {Refusal} from './fail.ts';

export interface TokenFlags {
  cluster: string;
  region?: string;
}

const group = 'client.authentication.k8s.io';
const versions = ['v1', 'v1beta1'];
/** A minute less than a token is good for. */
const validityMs = 14 * 60_000;

export async function token(flags: TokenFlags): Promise<void> {
  const region = regionOf(flags.region);
  const apiVersion = execVersion(process.env['KUBERNETES_EXEC_INFO']);
  const [{defaultProvider}, {clusterToken}] = await Promise.all([
    import('@aws-sdk/credential-provider-node'),
    import('../../shared/auth/aws-iam/presign.ts'),
  ]);
  const credentials = await defaultProvider()().catch((error: Error) => {
    throw new Refusal(`no AWS credentials: ${error.message}`);
  });
  const now = new Date();
  const signed = await clusterToken({credentials, region, host: stsHost(region), cluster: flags.cluster, now});
  process.stdout.write(`${JSON.stringify(execCredential(apiVersion, signed, now))}\n`);
}

/** @throws Refusal */
export function regionOf(flag: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  const region = flag ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'];
  if (!region) throw new Refusal('which region? Give --region, or set AWS_REGION');
  if (!/^[a-z0-9]+(-[a-z0-9]+)+$/.test(region)) throw new Refusal(`${JSON.stringify(region)} is no name of a region`);
  return region;
}

export const stsHost = (region: string): string => `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** What kubectl asks for; the older one where nobody asks, as other plugins do. @throws Refusal */
export function execVersion(info: string | undefined): string {
  if (!info) return `${group}/v1beta1`;
  let asked: unknown;
  try {
    asked = (JSON.parse(info) as {apiVersion?: unknown} | null)?.apiVersion;
  } catch {
    throw new Refusal('KUBERNETES_EXEC_INFO is no JSON');
  }
  const known = versions.map((version) => `${group}/${version}`);
  if (typeof asked !== 'string' || !known.includes(asked))
    throw new Refusal(`KUBERNETES_EXEC_INFO asks for ${JSON.stringify(asked)}: this plugin speaks ${known.join(' and ')}`);
  return asked;
}

export const execCredential = (apiVersion: string, signed: string, now: Date) => ({
  kind: 'ExecCredential',
  apiVersion,
  spec: {},
  status: {expirationTimestamp: new Date(now.getTime() + validityMs).toISOString().replace(/\.\d+/, ''), token: signed},
});
