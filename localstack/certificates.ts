/**
 * The local cluster's certificates: a CA, a serving certificate, an admin client certificate and the key that signs service-account
 * tokens, all ECDSA P-256, as PEM files that later starts reuse. What has to be made is made with @peculiar/x509, which is loaded
 * only then: a start that finds everything in place checks it with Node's own X509Certificate.
 */
import {createPrivateKey, X509Certificate} from 'node:crypto';
import {chmod, mkdir, readFile, rename, writeFile} from 'node:fs/promises';
import {hostname, networkInterfaces} from 'node:os';
import {join} from 'node:path';
import {backdateMs, curve, freshKeys, type KeyPair, makeCa, newKey, serialNumber} from '../shared/auth/certificate-authority.ts';

export type {KeyPair} from '../shared/auth/certificate-authority.ts';

export interface Pki {
  ca: KeyPair;
  serving: KeyPair;
  admin: KeyPair;
  /** What the API server shows to agents that it dials. */
  agentClient: KeyPair;
  /** PEM, PKCS #8. */
  serviceAccountKey: string;
}

export interface PkiOptions {
  /** Where the files live; in memory only when absent. */
  folder?: string;
  /** Names and addresses that the serving certificate must cover. */
  names: readonly string[];
  /** A serving certificate of the user's own, instead of one from our CA. */
  serving?: {certificateFile: string; keyFile: string};
  now?: number;
}

/** What went wrong, in one line that names the file. */
export class CertificateError extends Error {
  constructor(message: string, options?: {cause?: unknown}) {
    super(message, options);
    this.name = 'CertificateError';
  }
}

export const adminName = 'clusterless-admin';
const agentClientName = 'kube-apiserver-kubelet-client';
const dayMs = 86_400_000;
const leafLifetimeMs = 365 * dayMs;
/** Renewed this long before the end, so that a server that runs for weeks does not outlive its certificate. */
const renewBeforeMs = 30 * dayMs;
/** The names under which clients may reach a server on this machine. */
export function defaultNames(serviceIp: string, more: readonly string[] = []): string[] {
  const services = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    // Link-local addresses need a zone, which no certificate can name.
    .filter(({address}) => !address.startsWith('fe80:'))
    .map(({address}) => address);
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), serviceIp, ...services, ...addresses, ...more])].filter(Boolean);
}

/** @throws CertificateError for a file that cannot be read, is no certificate or key, or does not fit its other half. */
export async function loadOrCreatePki(options: PkiOptions): Promise<Pki> {
  const now = options.now ?? Date.now();
  const files = options.folder === undefined ? undefined : new Folder(options.folder);

  let ca = await files?.pair('ca');
  if (!ca || expiresBefore(ca, now)) {
    // A CA at its end takes everything that it signed with it.
    ca = await makeCa(now);
    await files?.write('ca', ca);
  }

  let serving = options.serving ? await readOwn(options.serving) : await files?.pair('apiserver');
  if (
    !options.serving &&
    (!serving || !issuedBy(ca, serving) || expiresBefore(serving, now + renewBeforeMs) || !covers(serving, options.names))
  ) {
    serving = await makeLeaf(ca, {commonName: 'kube-apiserver', names: options.names, usage: 'server'}, now);
    await files?.write('apiserver', serving);
  }

  let admin = await files?.pair('admin');
  if (!admin || !issuedBy(ca, admin) || expiresBefore(admin, now + renewBeforeMs)) {
    admin = await makeLeaf(ca, {commonName: adminName, organizations: ['system:masters'], usage: 'client'}, now);
    await files?.write('admin', admin);
  }

  let agentClient = await files?.pair('apiserver-kubelet-client');
  if (!agentClient || !issuedBy(ca, agentClient) || expiresBefore(agentClient, now + renewBeforeMs)) {
    agentClient = await makeLeaf(ca, {commonName: agentClientName, organizations: ['system:masters'], usage: 'client'}, now);
    await files?.write('apiserver-kubelet-client', agentClient);
  }

  let serviceAccountKey = await files?.key('sa');
  if (serviceAccountKey === undefined) {
    serviceAccountKey = newKey();
    await files?.writeKey('sa', serviceAccountKey);
  }
  return {ca, serving: serving!, admin, agentClient, serviceAccountKey};
}

/** A client certificate for any user, as long-lived as the admin's. */
export const issueClient = (ca: KeyPair, user: {name: string; groups?: readonly string[]}, now = Date.now()): Promise<KeyPair> =>
  makeLeaf(ca, {commonName: user.name, organizations: user.groups ?? [], usage: 'client'}, now);

class Folder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async pair(name: string): Promise<KeyPair | undefined> {
    const certificateFile = join(this.#path, `${name}.crt`);
    const keyFile = join(this.#path, `${name}.key`);
    const [certificate, key] = await Promise.all([readOrAbsent(certificateFile), readOrAbsent(keyFile)]);
    // A key alone is what a first start leaves that was killed between the two.
    if (certificate === undefined) return undefined;
    if (key === undefined) throw new CertificateError(`${keyFile} is missing; remove ${this.#path} to make new ones`);
    checkPair({certificate, key}, certificateFile, keyFile);
    return {certificate, key};
  }

  async key(name: string): Promise<string | undefined> {
    const file = join(this.#path, `${name}.key`);
    const key = await readOrAbsent(file);
    if (key !== undefined) checkKey(key, file);
    return key;
  }

  async write(name: string, pair: KeyPair): Promise<void> {
    // The key first: a crash between the two leaves a key without a certificate, never the reverse with an old key.
    await this.writeKey(name, pair.key);
    await this.#replace(`${name}.crt`, pair.certificate, 0o644);
  }

  writeKey(name: string, key: string): Promise<void> {
    return this.#replace(`${name}.key`, key, 0o600);
  }

  async #replace(name: string, text: string, mode: number): Promise<void> {
    await mkdir(this.#path, {recursive: true, mode: 0o700});
    const target = join(this.#path, name);
    const fresh = `${target}.new`;
    await writeFile(fresh, text, {mode});
    await chmod(fresh, mode);
    await rename(fresh, target);
  }
}

async function readOwn({certificateFile, keyFile}: {certificateFile: string; keyFile: string}): Promise<KeyPair> {
  const [certificate, key] = await Promise.all([readOrAbsent(certificateFile), readOrAbsent(keyFile)]);
  if (certificate === undefined) throw new CertificateError(`cannot read certificate ${certificateFile}: no such file`);
  if (key === undefined) throw new CertificateError(`cannot read key ${keyFile}: no such file`);
  checkPair({certificate, key}, certificateFile, keyFile);
  return {certificate, key};
}

async function readOrAbsent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    throw new CertificateError(`cannot read certificate ${file}: ${code ?? error}`, {cause: error});
  }
}

function checkPair(pair: KeyPair, certificateFile: string, keyFile: string): void {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pair.certificate);
  } catch (error) {
    throw new CertificateError(`cannot read certificate ${certificateFile}: not a PEM certificate`, {cause: error});
  }
  if (!certificate.checkPrivateKey(checkKey(pair.key, keyFile))) {
    throw new CertificateError(`certificate ${certificateFile} does not belong to key ${keyFile}`);
  }
}

function checkKey(key: string, file: string) {
  try {
    return createPrivateKey(key);
  } catch (error) {
    throw new CertificateError(`cannot read key ${file}: not a PEM private key`, {cause: error});
  }
}

const expiresBefore = (pair: KeyPair, time: number): boolean => Date.parse(new X509Certificate(pair.certificate).validTo) <= time;

const issuedBy = (ca: KeyPair, pair: KeyPair): boolean =>
  new X509Certificate(pair.certificate).verify(new X509Certificate(ca.certificate).publicKey);

const isAddress = (name: string): boolean => name.includes(':') || /^\d+\.\d+\.\d+\.\d+$/.test(name);

function covers(pair: KeyPair, names: readonly string[]): boolean {
  const certificate = new X509Certificate(pair.certificate);
  return names.every((name) => (isAddress(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined);
}

interface Leaf {
  commonName: string;
  organizations?: readonly string[];
  names?: readonly string[];
  usage: 'server' | 'client';
}

async function makeLeaf(ca: KeyPair, leaf: Leaf, now: number): Promise<KeyPair> {
  const {library, keys, pem} = await freshKeys();
  const issuer = new library.X509Certificate(ca.certificate);
  const extensions = [
    new library.BasicConstraintsExtension(false, undefined, true),
    new library.KeyUsagesExtension(library.KeyUsageFlags.digitalSignature, true),
    new library.ExtendedKeyUsageExtension([
      leaf.usage === 'server' ? library.ExtendedKeyUsage.serverAuth : library.ExtendedKeyUsage.clientAuth,
    ]),
    await library.AuthorityKeyIdentifierExtension.create(issuer),
    ...(leaf.names
      ? [new library.SubjectAlternativeNameExtension(leaf.names.map((value) => ({type: isAddress(value) ? 'ip' : 'dns', value}) as const))]
      : []),
  ];
  const certificate = await library.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [...(leaf.organizations ?? []).map((organization) => ({O: [organization]})), {CN: [leaf.commonName]}],
    issuer: issuer.subject,
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(Math.min(now + leafLifetimeMs, issuer.notAfter.getTime())),
    publicKey: keys.publicKey,
    signingKey: await importSigningKey(ca.key),
    signingAlgorithm: {name: 'ECDSA', hash: 'SHA-256'},
    extensions,
  });
  return {certificate: `${certificate.toString('pem')}\n`, key: pem};
}

/** Of any kind of EC P-256 key file: PKCS #8 and SEC 1 alike. */
async function importSigningKey(pem: string) {
  const der = createPrivateKey(pem).export({type: 'pkcs8', format: 'der'});
  return crypto.subtle.importKey('pkcs8', der, curve, false, ['sign']);
}
