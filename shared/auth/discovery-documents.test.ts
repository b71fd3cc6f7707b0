import {generateKeyPairSync} from 'node:crypto';
import {expect, test} from 'vitest';
import {keySet, openidConfiguration} from './discovery-documents.ts';
import {signingKey, verificationKey} from './service-account/keys.ts';

test('the issuer tells where its keys are and what they are for', () => {
  const key = signingKey();
  const {body, contentType, cacheControl} = openidConfiguration('https://issuer', '192.0.2.1:443', [key]);
  expect([contentType, cacheControl]).toEqual(['application/json', 'public, max-age=3600']);
  expect(body).toBe(
    '{"issuer":"https://issuer","jwks_uri":"https://192.0.2.1:443/openid/v1/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"]}',
  );
});

test('keys are published without what signs', () => {
  const ec = signingKey();
  const {publicKey} = generateKeyPairSync('rsa', {modulusLength: 2048});
  const rsa = verificationKey(publicKey);
  const {body, contentType} = keySet([ec, rsa]);
  expect(contentType).toBe('application/jwk-set+json');
  const [first, second] = JSON.parse(body).keys;
  expect(Object.keys(first)).toEqual(['use', 'kty', 'kid', 'crv', 'alg', 'x', 'y']);
  expect(first).toMatchObject({use: 'sig', kty: 'EC', kid: ec.id, crv: 'P-256', alg: 'ES256'});
  expect(Object.keys(second)).toEqual(['use', 'kty', 'kid', 'alg', 'n', 'e']);
});
