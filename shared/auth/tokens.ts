/** Bearer tokens of every kind, for requests and for TokenReview: static ones, those of service accounts, and those of AWS identities. */

import {withAuthenticatedGroup} from './groups.ts';
import type {ServiceAccountVerifier} from './service-account/verifier.ts';
import type {UserInfo} from './user.ts';

export interface TokenAnswer {
  user?: UserInfo;
  audiences?: readonly string[];
  /** Why there is no user, in the reference's words. */
  error?: string;
}

/** Of tokens that somebody else vouches for, and that are for this server alone. */
export interface TokenVerifier {
  /** The user of a token that was verified before and is still good. */
  cached(token: string): UserInfo | undefined;
  verify(token: string): Promise<{user: UserInfo} | {error: string} | 'not ours'>;
}

export interface TokenAuthenticatorOptions {
  staticTokens?: ReadonlyMap<string, UserInfo>;
  serviceAccounts?: ServiceAccountVerifier;
  awsIam?: TokenVerifier;
  /** What this API server answers to. */
  audiences: readonly string[];
}

const invalidToken = 'invalid bearer token';

export class TokenAuthenticator {
  readonly audiences: readonly string[];
  readonly #static = new Map<string, UserInfo>();
  readonly #serviceAccounts: ServiceAccountVerifier | undefined;
  readonly #awsIam: TokenVerifier | undefined;

  constructor({staticTokens, serviceAccounts, awsIam, audiences}: TokenAuthenticatorOptions) {
    this.audiences = audiences;
    this.#serviceAccounts = serviceAccounts;
    this.#awsIam = awsIam;
    for (const [token, user] of staticTokens ?? []) this.#static.set(token, withAuthenticatedGroup(user));
  }

  /** The hot path: the user of a token seen before. Undefined says nothing; ask `authenticate`. */
  known(token: string): UserInfo | undefined {
    return this.#static.get(token) ?? this.#serviceAccounts?.cached(token) ?? this.#awsIam?.cached(token);
  }

  /** Who a token speaks for when it is meant for one of `audiences`. */
  async authenticate(token: string, audiences: readonly string[] = this.audiences): Promise<TokenAnswer> {
    const user = this.#static.get(token);
    if (user) return this.#ownUser(user, audiences);
    const foreign = await this.#awsIam?.verify(token);
    if (foreign !== undefined && foreign !== 'not ours')
      return 'error' in foreign ? {error: `[${invalidToken}, ${foreign.error}]`} : this.#ownUser(foreign.user, audiences);
    const verified = await this.#serviceAccounts?.verify(token, audiences);
    if (verified === undefined || verified === 'not ours') return {error: invalidToken};
    return 'error' in verified ? {error: `[${invalidToken}, ${verified.error}]`} : verified;
  }

  /** Whose token is for this server, and only for it. */
  #ownUser(user: UserInfo, audiences: readonly string[]): TokenAnswer {
    const accepted = this.audiences.filter((audience) => audiences.includes(audience));
    return accepted.length > 0 ? {user, audiences: accepted} : {error: invalidToken};
  }
}
