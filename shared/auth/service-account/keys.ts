/** The keys of service-account tokens: one signs, each verifies. A key's id tells nothing of the key. */
import {createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject} from 'node:crypto';

export interface VerificationKey {
  id: string;
  algorithm: string;
  key: KeyObject;
}

export interface SigningKey extends VerificationKey {
  privateKey: KeyObject;
}

const curveAlgorithms: Record<string, string> = {prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512'};

function algorithmOf(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = curveAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (!algorithm) throw new Error('unknown private key curve, must be 256, 384, or 521');
  return algorithm;
}

export function verificationKey(pem: string | KeyObject): VerificationKey {
  const key = typeof pem !== 'string' && pem.type === 'public' ? pem : createPublicKey(pem);
  const id = createHash('sha256')
    .update(key.export({type: 'spki', format: 'der'}))
    .digest('base64url');
  return {id, algorithm: algorithmOf(key), key};
}

/** Reads an ECDSA or RSA private key in any usual PEM; makes an ECDSA P-256 key when there is none. */
export function signingKey(pem?: string): SigningKey {
  const privateKey = pem === undefined ? generateKeyPairSync('ec', {namedCurve: 'P-256'}).privateKey : createPrivateKey(pem);
  return {...verificationKey(privateKey), privateKey};
}
