/** Signs service-account tokens. Who may ask for one, and what it may be bound to, is for the TokenRequest review. */
import {serviceAccountUser} from '../groups.ts';
import type {Claims, ObjectReference} from './claims.ts';
import type {SigningKey} from './keys.ts';

export interface TokenBinding {
  namespace: string;
  serviceAccount: ObjectReference;
  pod?: ObjectReference;
  secret?: ObjectReference;
  node?: ObjectReference;
}

export interface TokenTerms {
  audiences: readonly string[];
  /** Wall time, ms since the epoch. */
  now: number;
  expirationSeconds: number;
  /** From then on its use is noted as stale, long before it expires. */
  warnAfterSeconds?: number;
}

export class TokenIssuer {
  readonly issuer: string;
  readonly #key: SigningKey;

  constructor(issuer: string, key: SigningKey) {
    this.issuer = issuer;
    this.#key = key;
  }

  /** Answers with the token and its id, for audit. */
  async issue(binding: TokenBinding, terms: TokenTerms): Promise<{token: string; credentialId: string}> {
    const {namespace, serviceAccount, pod, secret, node} = binding;
    const issuedAt = Math.floor(terms.now / 1000);
    const jti = crypto.randomUUID();
    const claims: Claims = {
      aud: [...terms.audiences],
      exp: issuedAt + terms.expirationSeconds,
      iat: issuedAt,
      iss: this.issuer,
      jti,
      'kubernetes.io': {
        namespace,
        ...(node && {node}),
        ...(pod && {pod}),
        ...(secret && {secret}),
        serviceaccount: serviceAccount,
        ...(terms.warnAfterSeconds && {warnafter: issuedAt + terms.warnAfterSeconds}),
      },
      nbf: issuedAt,
      sub: serviceAccountUser(namespace, serviceAccount.name ?? ''),
    };
    // Loaded when the first token is signed: most cold starts sign none.
    const {CompactSign} = await import('jose');
    const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({alg: this.#key.algorithm, kid: this.#key.id})
      .sign(this.#key.privateKey);
    return {token, credentialId: `JTI=${jti}`};
  }
}
