/**
 * What a deployment can be told, from CDK context (`-c name=value`, or `context` in cdk.json), parsed once. A wrong value is an error that
 * names its key. What is secret is no setting: the template would carry it.
 */
import type {Identity} from '../shared/auth/aws-iam/identities.ts';
import {parseIdentities, parsePrincipal} from '../shared/auth/aws-iam/identities.ts';
import {emulated} from '../shared/http/version.ts';

export interface Settings {
  /** Names the stack and the tables, and tokens are for it alone. */
  cluster: string;
  tablePrefix: string;
  /** How long watches and exact lists can go back. */
  historySeconds: number;
  logRetentionDays: number;
  /** What happens to tables when the stack goes. */
  retain: boolean;
  /** Open HTTP watches and lists at a time; undefined leaves the account's pool to them. */
  watchConcurrency: number | undefined;
  throttle: {requestsPerSecond: number; burst: number};
  serviceIpRange: string;
  nodePortRange: string;
  issuer: string;
  /** A host name of your own, and one where clients must show a certificate. */
  domain: Domain | undefined;
  clientCertificateDomain: (Domain & {truststore: string}) | undefined;
  identities: Identity[];
  /** Hears of alarms. */
  alarmTopicArn: string | undefined;
}

export interface Domain {
  name: string;
  certificateArn: string;
}

type Context = (key: string) => unknown;

/** The retentions that CloudWatch knows. */
const retentions = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653];

const keys = [
  'cluster',
  'tablePrefix',
  'emulatedVersion',
  'featureGates',
  'historySeconds',
  'logRetentionDays',
  'removalPolicy',
  'watchConcurrency',
  'requestsPerSecond',
  'burst',
  'serviceIpRange',
  'nodePortRange',
  'issuer',
  'domain',
  'certificateArn',
  'clientCertificateDomain',
  'clientCertificateCertificateArn',
  'truststore',
  'admins',
  'identities',
  'alarmTopicArn',
] as const;
type Key = (typeof keys)[number];

/** @throws Error that names the key */
export function readSettings(context: Context): Settings {
  const text = (key: Key, fallback: string, pattern = /^.*$/s): string => {
    const value = context(key);
    if (value === undefined || value === '') return fallback;
    if (typeof value === 'object' || !pattern.test(String(value))) throw wrong(key, value, `want ${pattern.source}`);
    return String(value);
  };
  const optional = (key: Key, pattern?: RegExp): string | undefined => text(key, '', pattern) || undefined;
  const count = (key: Key, fallback: number): number => Number(text(key, String(fallback), /^[1-9]\d{0,8}$/));

  const cluster = text('cluster', 'default', /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/);
  // No function is told either: there is nothing to choose, and who chooses something else hears of it here.
  const release = `${emulated.major}.${emulated.minor}`;
  const emulatedVersion = text('emulatedVersion', release);
  if (emulatedVersion !== release) throw wrong('emulatedVersion', emulatedVersion, `only ${release} yet`);
  const featureGates = text('featureGates', '');
  if (featureGates !== '') throw wrong('featureGates', featureGates, 'no gate can be changed yet, each has its default');
  const logRetentionDays = count('logRetentionDays', 30);
  if (!retentions.includes(logRetentionDays)) throw wrong('logRetentionDays', logRetentionDays, `want one of ${retentions.join(' ')}`);

  return {
    cluster,
    tablePrefix: text('tablePrefix', `clusterless-${cluster}-`, /^[A-Za-z0-9_.-]{1,100}$/),
    historySeconds: count('historySeconds', 3_600),
    logRetentionDays,
    retain: text('removalPolicy', 'retain', /^(retain|destroy)$/) === 'retain',
    watchConcurrency: optional('watchConcurrency') === undefined ? undefined : count('watchConcurrency', 1),
    throttle: {requestsPerSecond: count('requestsPerSecond', 500), burst: count('burst', 1_000)},
    serviceIpRange: text('serviceIpRange', '10.0.0.0/24'),
    nodePortRange: text('nodePortRange', '30000-32767', /^\d+-\d+$/),
    issuer: text('issuer', 'https://kubernetes.default.svc', /^https:\/\/\S+$/),
    domain: domain('domain', 'certificateArn'),
    clientCertificateDomain: clientCertificateDomain(),
    identities: identities(),
    alarmTopicArn: optional('alarmTopicArn', /^arn:[\w-]+:sns:/),
  };

  function domain(nameKey: Key, certificateKey: Key): Domain | undefined {
    const name = optional(nameKey, /^[a-z0-9.-]+\.[a-z]+$/);
    const certificateArn = optional(certificateKey, /^arn:[\w-]+:acm:/);
    if (name === undefined && certificateArn === undefined) return undefined;
    if (name === undefined || certificateArn === undefined) throw new Error(`context ${nameKey} and ${certificateKey} go together`);
    return {name, certificateArn};
  }

  function clientCertificateDomain(): (Domain & {truststore: string}) | undefined {
    const found = domain('clientCertificateDomain', 'clientCertificateCertificateArn');
    const truststore = optional('truststore', /^s3:\/\/[^/]+\/.+$/);
    if (!found && truststore === undefined) return undefined;
    if (!found || truststore === undefined) throw new Error('context clientCertificateDomain and truststore go together');
    return {...found, truststore};
  }

  function identities(): Identity[] {
    const admins = list('admins').map((arn) => named('admins', () => ({arn: parsePrincipal(arn), groups: ['system:masters']})));
    const value = context('identities');
    const more = value === undefined || value === '' ? [] : named('identities', () => parseIdentities(value));
    return [...admins, ...more];
  }

  /** Of ARNs, comma-separated or as JSON. */
  function list(key: Key): string[] {
    const value = context(key);
    if (Array.isArray(value)) return value.map(String);
    const plain = text(key, '');
    if (plain.startsWith('[')) return named(key, () => JSON.parse(plain) as string[]).map(String);
    return plain
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);
  }
}

function named<T>(key: Key, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`context ${key}: ${(error as Error).message}`);
  }
}

const wrong = (key: Key, value: unknown, want: string): Error => new Error(`context ${key} is ${JSON.stringify(value)}: ${want}`);
