/** Bearer tokens of every kind, for requests and for TokenReview: static ones and those of service accounts. */

import {withAuthenticatedGroup} from './groups.ts';
import type {ServiceAccountVerifier} from './service-account/verifier.ts';
import type {UserInfo} from './user.ts';

export interface TokenAnswer {
  user?: UserInfo;
  audiences?: readonly string[];
  /** Why there is no user, in the reference's words. */
  error?: string;
}

export interface TokenAuthenticatorOptions {
  staticTokens?: ReadonlyMap<string, UserInfo>;
  serviceAccounts?: ServiceAccountVerifier;
  /** What this API server answers to. */
  audiences: readonly string[];
}

const invalidToken = 'invalid bearer token';

export class TokenAuthenticator {
  readonly audiences: readonly string[];
  readonly #static = new Map<string, UserInfo>();
  readonly #serviceAccounts: ServiceAccountVerifier | undefined;

  constructor({staticTokens, serviceAccounts, audiences}: TokenAuthenticatorOptions) {
    this.audiences = audiences;
    this.#serviceAccounts = serviceAccounts;
    for (const [token, user] of staticTokens ?? []) this.#static.set(token, withAuthenticatedGroup(user));
  }

  /** The hot path: the user of a token seen before. Undefined says nothing; ask `authenticate`. */
  known(token: string): UserInfo | undefined {
    return this.#static.get(token) ?? this.#serviceAccounts?.cached(token);
  }

  /** Who a token speaks for when it is meant for one of `audiences`. */
  async authenticate(token: string, audiences: readonly string[] = this.audiences): Promise<TokenAnswer> {
    const user = this.#static.get(token);
    if (user) {
      // A static token is for this server, and only for it.
      const accepted = this.audiences.filter((audience) => audiences.includes(audience));
      return accepted.length > 0 ? {user, audiences: accepted} : {error: invalidToken};
    }
    const verified = await this.#serviceAccounts?.verify(token, audiences);
    if (verified === undefined || verified === 'not ours') return {error: invalidToken};
    return 'error' in verified ? {error: `[${invalidToken}, ${verified.error}]`} : verified;
  }
}
