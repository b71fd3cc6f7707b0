/** What others need to verify service-account tokens themselves: the OpenID discovery document of the issuer, and its public keys. */
import type {VerificationKey} from './service-account/keys.ts';

export const jwksPath = '/openid/v1/jwks';

/** For how long others may keep the documents. */
export const documentMaxAgeSeconds = 3_600;

export interface DiscoveryDocument {
  contentType: string;
  cacheControl: string;
  body: string;
}

const cacheControl = `public, max-age=${documentMaxAgeSeconds}`;

/** @param address host and port at which clients reach the server */
export function openidConfiguration(issuer: string, address: string, keys: readonly VerificationKey[]): DiscoveryDocument {
  const body = {
    issuer,
    jwks_uri: `https://${address}${jwksPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map((key) => key.algorithm))].sort(),
  };
  return {contentType: 'application/json', cacheControl, body: JSON.stringify(body)};
}

export function keySet(keys: readonly VerificationKey[]): DiscoveryDocument {
  const body = {
    keys: keys.map(({id, algorithm, key}) => {
      const {kty, crv, x, y, n, e} = key.export({format: 'jwk'});
      return kty === 'RSA' ? {use: 'sig', kty, kid: id, alg: algorithm, n, e} : {use: 'sig', kty, kid: id, crv, alg: algorithm, x, y};
    }),
  };
  return {contentType: 'application/jwk-set+json', cacheControl, body: JSON.stringify(body)};
}
