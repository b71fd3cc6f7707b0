/**
 * A `k8s-aws-v1.` token: a presigned question to STS, who is it that signed this, in base64url. Here is everything that can be said of one
 * without asking anybody; ./sts.ts asks. A server that fetches addresses out of tokens is a proxy for whoever writes them, so the
 * address is one of a few, compared as text, and all that follows it is known by name.
 */

export const tokenPrefix = 'k8s-aws-v1.';
/** Signed, not in the URL: a token for one cluster is none for another. */
export const clusterHeader = 'x-k8s-aws-id';

export type Partition = 'aws' | 'aws-cn' | 'aws-us-gov';

export interface SignedQuestion {
  /** Of one of STS's hosts, with nothing in it that is not known. */
  url: string;
  /** Of who signed, for the audit trail. */
  accessKeyId: string;
  /** Until when, by its own date, ms since the epoch. */
  goodUntil: number;
}

/** Longer ones are not looked at. */
const maxTokenBytes = 4_096;
/** How long STS takes a signature, whatever it says of itself. */
const validityMs = 15 * 60_000;
const maxExpiresSeconds = 900;

const partitions: Record<Partition, {regions: RegExp; domains: readonly string[]; global?: string}> = {
  aws: {regions: /^(us|eu|ap|sa|ca|me|af|il|mx)-[a-z]+-\d{1,2}$/, domains: ['amazonaws.com', 'api.aws'], global: 'sts.amazonaws.com'},
  'aws-cn': {regions: /^cn-[a-z]+-\d{1,2}$/, domains: ['amazonaws.com.cn', 'api.amazonwebservices.com.cn']},
  'aws-us-gov': {regions: /^us-gov-[a-z]+-\d{1,2}$/, domains: ['amazonaws.com', 'api.aws']},
};

export const partitionOfRegion = (region: string): Partition =>
  region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';

const parameters = new Set([
  'action',
  'version',
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
]);

export class TokenError extends Error {
  constructor(why: string) {
    super(`input token was not properly formatted: ${why}`);
    this.name = 'TokenError';
  }
}

/** @throws TokenError */
export function readToken(token: string, partition: Partition, now: number): SignedQuestion {
  if (token.length > maxTokenBytes) throw new TokenError('token is too large');
  if (!token.startsWith(tokenPrefix)) throw new TokenError(`token is missing expected "${tokenPrefix}" prefix`);
  const encoded = token.slice(tokenPrefix.length);
  if (!/^[A-Za-z0-9_-]+$/.test(encoded)) throw new TokenError('illegal base64 data');
  const [host, query] = split(Buffer.from(encoded, 'base64url').toString('latin1'));
  if (!isStsHost(host, partition)) throw new TokenError(`unexpected hostname ${JSON.stringify(host)} in pre-signed URL`);

  const values = readQuery(query);
  const value = (name: string): string => values.get(name) ?? '';
  if (value('action') !== 'GetCallerIdentity') throw new TokenError('unexpected action parameter in pre-signed URL');
  if (!value('x-amz-signedheaders').split(';').includes(clusterHeader))
    throw new TokenError(`client did not sign the ${clusterHeader} header in the pre-signed URL`);
  const expires = value('x-amz-expires');
  if (!/^\d{1,6}$/.test(expires) || Number(expires) > maxExpiresSeconds)
    throw new TokenError('invalid X-Amz-Expires parameter in pre-signed URL');
  const signedAt = readDate(value('x-amz-date'));
  if (signedAt === undefined) throw new TokenError('error parsing X-Amz-Date parameter');
  const goodUntil = signedAt + validityMs;
  if (now > goodUntil) throw new TokenError(`X-Amz-Date parameter is expired (${validityMs / 60_000} minute expiration)`);
  return {url: `https://${host}/?${query}`, accessKeyId: value('x-amz-credential').split('/')[0]!, goodUntil};
}

/**
 * Host and query, by a pattern that has no place for user names, ports, other paths, fragments, white space or anything else that two
 * parsers might read in two ways.
 */
function split(url: string): [host: string, query: string] {
  const match = /^https:\/\/([a-z0-9.-]+)\/\?([\w.~%=&+*:;,/-]+)$/.exec(url);
  if (!match) throw new TokenError('it is no https URL of the root of a host with a query');
  return [match[1]!, match[2]!];
}

function isStsHost(host: string, partition: Partition): boolean {
  const {regions, domains, global} = partitions[partition];
  if (host === global) return true;
  const match = /^sts(?:-fips)?\.([a-z0-9-]+)\.([a-z.]+)$/.exec(host);
  return match !== null && regions.test(match[1]!) && domains.includes(match[2]!);
}

/** Names in lower case. @throws TokenError for a name that is unknown or stands twice in any case */
function readQuery(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const pair of query.split('&')) {
    const at = pair.indexOf('=');
    if (at < 0 || pair.includes(';')) throw new TokenError('malformed query parameter');
    const name = decode(pair.slice(0, at)).toLowerCase();
    if (!parameters.has(name)) throw new TokenError(`non-whitelisted query parameter ${JSON.stringify(name)}`);
    if (values.has(name)) throw new TokenError(`query parameter with multiple values not supported: ${name}`);
    values.set(name, decode(pair.slice(at + 1)));
  }
  return values;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new TokenError('malformed query parameter');
  }
}

/** `20060102T150405Z`, ms since the epoch; undefined also for a day that no calendar has. */
function readDate(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number) as [number, number, number, number, number, number];
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  return new Date(time).toISOString().replace(/[-:]|\.000/g, '') === text ? time : undefined;
}
