/**
 * The certificates of the pods' proxy: a CA of the agent's own that lives as long as its folder, so that pods which hold it go on trusting
 * the agent after each restart, and a serving certificate from it. Loads @peculiar/x509 only to make one.
 */
import {createPrivateKey, X509Certificate} from 'node:crypto';
import {mkdir, readFile, rename, writeFile} from 'node:fs/promises';
import {isIP} from 'node:net';
import {join} from 'node:path';

export interface ProxyCertificates {
  /** PEM: what pods verify the proxy with. */
  ca: string;
  cert: string;
  key: string;
  /** When to ask for another, ms. */
  renewAt: number;
}

const dayMs = 86_400_000;
const caLifetimeMs = 3650 * dayMs;
const leafLifetimeMs = 365 * dayMs;
const renewBeforeMs = 60 * dayMs;
/** Clients whose clock is a little behind. */
const backdateMs = 5 * 60_000;
const algorithm = {name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256'} as const;

/** `names`: addresses and host names under which pods reach the proxy. @throws Error when the folder cannot be written */
export async function proxyCertificates(folder: string, names: readonly string[], now: number): Promise<ProxyCertificates> {
  await mkdir(folder, {recursive: true, mode: 0o700});
  let pair = await readPair(folder, 'ca', now);
  if (!pair) {
    pair = await make({subject: `CN=nodeagent-pod-api@${Math.floor(now / 1000)}`, now, lifetimeMs: caLifetimeMs, names: []});
    await keepPair(folder, 'ca', pair);
  }
  const known = await readPair(folder, 'serving', now);
  if (known && covers(known.cert, names) && new X509Certificate(known.cert).verify(new X509Certificate(pair.cert).publicKey))
    return {ca: pair.cert, ...known, renewAt: endOf(known.cert) - renewBeforeMs};
  const serving = await make({subject: `CN=${names[0]}`, now, lifetimeMs: leafLifetimeMs, names, issuer: pair});
  await keepPair(folder, 'serving', serving);
  return {ca: pair.cert, ...serving, renewAt: now + leafLifetimeMs - renewBeforeMs};
}

interface Pair {
  cert: string;
  key: string;
}

const endOf = (cert: string): number => Date.parse(new X509Certificate(cert).validTo);

/** Undefined for what is not there, broken, or soon over. */
async function readPair(folder: string, name: string, now: number): Promise<Pair | undefined> {
  try {
    const [cert, key] = await Promise.all(['crt', 'key'].map((end) => readFile(join(folder, `${name}.${end}`), 'utf8')));
    const fits = new X509Certificate(cert!).checkPrivateKey(createPrivateKey(key!));
    return fits && endOf(cert!) - renewBeforeMs > now ? {cert: cert!, key: key!} : undefined;
  } catch {
    return undefined;
  }
}

/** The key first: a crash between the two leaves a pair that does not fit, and is made anew. */
async function keepPair(folder: string, name: string, {cert, key}: Pair): Promise<void> {
  for (const [end, text, mode] of [
    ['key', key, 0o600],
    ['crt', cert, 0o644],
  ] as const) {
    const path = join(folder, `${name}.${end}`);
    await writeFile(`${path}.new`, text, {mode});
    await rename(`${path}.new`, path);
  }
}

function covers(cert: string, names: readonly string[]): boolean {
  const certificate = new X509Certificate(cert);
  return names.every((name) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined);
}

interface Wanted {
  subject: string;
  now: number;
  lifetimeMs: number;
  names: readonly string[];
  /** A CA of its own when absent. */
  issuer?: Pair;
}

async function make({subject, now, lifetimeMs, names, issuer}: Wanted): Promise<Pair> {
  const loaded = await import('@peculiar/x509');
  // Node loads the package's CommonJS form, a bundle its modules.
  const x509 = 'X509CertificateGenerator' in loaded ? loaded : (loaded as {default: typeof loaded}).default;
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const common = {
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(8)))
      .toString('hex')
      .replace(/^./, '1'),
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + lifetimeMs),
    signingAlgorithm: algorithm,
  };
  const keyId = await x509.SubjectKeyIdentifierExtension.create(keys.publicKey);
  let certificate: {toString(format: 'pem'): string};
  if (issuer) {
    const parent = new x509.X509Certificate(issuer.cert);
    const der = createPrivateKey(issuer.key).export({type: 'pkcs8', format: 'der'});
    const signingKey = await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
    certificate = await x509.X509CertificateGenerator.create({
      ...common,
      subject,
      issuer: parent.subject,
      publicKey: keys.publicKey,
      signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names.map((value) => ({type: isIP(value) ? 'ip' : 'dns', value}))),
        await x509.AuthorityKeyIdentifierExtension.create(await parent.publicKey.export()),
        keyId,
      ],
    });
  } else
    certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...common,
      name: subject,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        keyId,
      ],
    });
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({key: der, format: 'der', type: 'pkcs8'}).export({type: 'pkcs8', format: 'pem'}) as string;
  return {cert: `${certificate.toString('pem').trim()}\n`, key};
}
