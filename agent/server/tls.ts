/** The certificate that the agent serves with: the one it was given, or one of its own, made once. Loads @peculiar/x509 only to make one. */
import {createPrivateKey} from 'node:crypto';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {isIP} from 'node:net';
import {join} from 'node:path';

export interface ServingCertificate {
  cert: string;
  key: string;
}

const lifetimeMs = 365 * 86_400_000;
/** Clients whose clock is a little behind. */
const backdateMs = 5 * 60_000;
const algorithm = {name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256'} as const;

export interface TlsFiles {
  certFile: string;
  keyFile: string;
  certDir: string;
}

/** @throws Error for given files that cannot be read */
export async function servingCertificate(
  {certFile, keyFile, certDir}: TlsFiles,
  names: readonly string[],
  now: number,
): Promise<ServingCertificate> {
  if (certFile && keyFile) return {cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8')};
  const [certPath, keyPath] = [join(certDir, 'nodeagent.crt'), join(certDir, 'nodeagent.key')];
  const [cert, key] = await Promise.all([certPath, keyPath].map((path) => readFile(path, 'utf8').catch(() => undefined)));
  if (cert && key) return {cert, key};
  const made = await selfSigned(names, now);
  await mkdir(certDir, {recursive: true, mode: 0o750});
  await writeFile(keyPath, made.key, {mode: 0o600});
  await writeFile(certPath, made.cert);
  return made;
}

async function selfSigned(names: readonly string[], now: number): Promise<ServingCertificate> {
  const loaded = await import('@peculiar/x509');
  // Node loads the package's CommonJS form, a bundle its modules.
  const library = 'X509CertificateGenerator' in loaded ? loaded : (loaded as {default: typeof loaded}).default;
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await library.X509CertificateGenerator.createSelfSigned({
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(8)))
      .toString('hex')
      .replace(/^./, '1'),
    name: `CN=${names[0]}@${Math.floor(now / 1000)}`,
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + lifetimeMs),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new library.ExtendedKeyUsageExtension([library.ExtendedKeyUsage.serverAuth]),
      new library.SubjectAlternativeNameExtension(names.map((value) => ({type: isIP(value) ? 'ip' : 'dns', value}))),
    ],
  });
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({key: der, format: 'der', type: 'pkcs8'}).export({type: 'pkcs8', format: 'pem'}) as string;
  return {cert: `${certificate.toString('pem')}\n`, key};
}
