/** A CA of one's own and fresh keys, all ECDSA P-256. Loads @peculiar/x509 when one is made, and only then. */
import {createPrivateKey, generateKeyPairSync} from 'node:crypto';

export interface KeyPair {
  /** PEM. */
  certificate: string;
  key: string;
}

const caLifetimeMs = 3650 * 86_400_000;
/** Clients whose clock is a little behind must not refuse a certificate that is seconds old. */
export const backdateMs = 5 * 60_000;

/** PEM, PKCS #8. */
export const newKey = (): string =>
  generateKeyPairSync('ec', {namedCurve: 'P-256'}).privateKey.export({type: 'pkcs8', format: 'pem'}) as string;

export async function makeCa(now: number): Promise<KeyPair> {
  const {library, keys, pem} = await freshKeys();
  const certificate = await library.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: 'CN=clusterless-ca',
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + caLifetimeMs),
    keys,
    signingAlgorithm: {name: 'ECDSA', hash: 'SHA-256'},
    extensions: [
      new library.BasicConstraintsExtension(true, undefined, true),
      new library.KeyUsagesExtension(library.KeyUsageFlags.keyCertSign | library.KeyUsageFlags.digitalSignature, true),
      await library.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {certificate: `${certificate.toString('pem')}\n`, key: pem};
}

export const curve = {name: 'ECDSA', namedCurve: 'P-256'} as const;

export async function freshKeys() {
  const loaded = await import('@peculiar/x509');
  // Node loads the package's CommonJS form, a bundle its modules.
  const library = 'X509CertificateGenerator' in loaded ? loaded : (loaded as {default: typeof loaded}).default;
  const keys = await crypto.subtle.generateKey(curve, true, ['sign', 'verify']);
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  const pem = createPrivateKey({key: der, format: 'der', type: 'pkcs8'}).export({type: 'pkcs8', format: 'pem'}) as string;
  return {library, keys, pem};
}

/** Positive, and no more than 20 bytes. */
export function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}
