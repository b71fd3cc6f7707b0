/**
 * The client's half: a signed question to STS, who am I, that its holder may put for some minutes, and a token that is made of it. Knows
 * no source of credentials. What a server makes of a token is in ./token-verifier.ts.
 */
import {createHash, createHmac, type Hash, type Hmac} from 'node:crypto';
import {SignatureV4} from '@smithy/signature-v4';
import {clusterHeader, tokenPrefix} from './token.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface PresignOptions {
  credentials: Credentials;
  region: string;
  /** `sts.eu-west-1.amazonaws.com` */
  host: string;
  /** The cluster that a token is for. */
  cluster?: string;
  now: Date;
}

/** How long the signature says that it is good for; STS itself takes it for 15 minutes. */
const expiresInSeconds = 60;

export async function presignedIdentityUrl({credentials, region, host, cluster, now}: PresignOptions): Promise<string> {
  const signer = new SignatureV4({credentials, region, service: 'sts', sha256: Sha256});
  const {query = {}} = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname: host,
      path: '/',
      query: {Action: 'GetCallerIdentity', Version: '2011-06-15'},
      headers: {host, ...(cluster !== undefined && {[clusterHeader]: cluster})},
    },
    {signingDate: now, expiresIn: expiresInSeconds},
  );
  const pairs = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return `https://${host}/?${pairs.join('&')}`;
}

export async function clusterToken(options: PresignOptions & {cluster: string}): Promise<string> {
  return tokenPrefix + Buffer.from(await presignedIdentityUrl(options)).toString('base64url');
}

/** As the signer wants a digest. */
export class Sha256 {
  #hash: Hash | Hmac;
  readonly #fresh: () => Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#fresh = () => (secret === undefined ? createHash('sha256') : createHmac('sha256', bytes(secret)));
    this.#hash = this.#fresh();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#fresh();
  }
}

function bytes(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}
