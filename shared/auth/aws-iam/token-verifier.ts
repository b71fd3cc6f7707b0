/**
 * Users from AWS identities: verifies `k8s-aws-v1.` tokens and looks their principals up in the deployment's document. A token can be used
 * again by whoever holds it until it is 15 minutes old; the name of the cluster, which is signed, keeps it from other clusters.
 */
import {createHash} from 'node:crypto';
import type {Clock} from '../../clock.ts';
import {withAuthenticatedGroup} from '../groups.ts';
import {RecentMap} from '../recent-map.ts';
import type {UserInfo} from '../user.ts';
import {canonicalArn, type Identity, type IdentityDocument, partitionOf} from './identities.ts';
import {type CallerIdentity, callerIdentity, type Fetch, StsError} from './sts.ts';
import {type Partition, readToken, type SignedQuestion, TokenError, tokenPrefix} from './token.ts';

export interface AwsTokenVerifierOptions extends IdentityDocument {
  partition: Partition;
  fetch: Fetch;
  clock: Clock;
}

export type AwsVerification = {user: UserInfo} | {error: string} | 'not ours';

interface Known {
  verification: {user: UserInfo} | {error: string};
  until: number;
}

const maxKnownTokens = 4_096;
/** Whoever keeps sending a token that STS refuses does not make us ask each time. */
const refusedForMs = 30_000;
/** A date in the future does not make a token better. */
const longestTrustMs = 15 * 60_000;

export class AwsTokenVerifier {
  readonly #options: AwsTokenVerifierOptions;
  readonly #identities: ReadonlyMap<string, Identity>;
  /** By hash: memory that leaks should not leak tokens. */
  readonly #known = new RecentMap<string, Known>(maxKnownTokens);
  readonly #asking = new Map<string, Promise<AwsVerification>>();

  constructor(options: AwsTokenVerifierOptions) {
    this.#options = options;
    this.#identities = new Map(options.identities.map((identity) => [canonicalArn(identity.arn), identity]));
  }

  /** The user of a token that was verified before and is still good. Undefined: ask `verify`. */
  cached(token: string): UserInfo | undefined {
    if (!token.startsWith(tokenPrefix)) return undefined;
    const verification = this.#recall(hashOf(token));
    return verification && 'user' in verification ? verification.user : undefined;
  }

  async verify(token: string): Promise<AwsVerification> {
    if (!token.startsWith(tokenPrefix)) return 'not ours';
    let question: SignedQuestion;
    try {
      question = readToken(token, this.#options.partition, this.#options.clock.now());
    } catch (error) {
      if (error instanceof TokenError) return {error: error.message};
      throw error;
    }
    const hash = hashOf(token);
    const known = this.#recall(hash);
    if (known) return known;
    // Many requests come at once with a token that is new: one question for all of them.
    let asking = this.#asking.get(hash);
    if (!asking) {
      asking = this.#ask(hash, question).finally(() => this.#asking.delete(hash));
      this.#asking.set(hash, asking);
    }
    return asking;
  }

  #recall(hash: string): Known['verification'] | undefined {
    const known = this.#known.get(hash);
    return known && this.#options.clock.now() < known.until ? known.verification : undefined;
  }

  async #ask(hash: string, question: SignedQuestion): Promise<AwsVerification> {
    const {clock, cluster, fetch} = this.#options;
    let verification: Known['verification'];
    let passing = false;
    try {
      verification = this.#userOf(await callerIdentity(question, cluster, fetch, clock), question);
    } catch (error) {
      if (!(error instanceof StsError)) throw error;
      passing = error.passing;
      verification = {error: error.message};
    }
    const now = clock.now();
    const until = 'user' in verification ? Math.min(question.goodUntil, now + longestTrustMs) : now + refusedForMs;
    if (!passing) this.#known.set(hash, {verification, until});
    return verification;
  }

  #userOf({arn, account, userId}: CallerIdentity, {accessKeyId}: SignedQuestion): Known['verification'] {
    let canonical: string;
    try {
      canonical = canonicalArn(arn);
    } catch (error) {
      return {error: (error as Error).message};
    }
    const identity = partitionOf(canonical) === this.#options.partition ? this.#identities.get(canonical) : undefined;
    if (!identity) return {error: `ARN is not mapped: ${canonical}`};
    const [principalId = '', sessionName = ''] = userId.split(':');
    const user: UserInfo = {
      name: fill(identity.username ?? canonical, account, sessionName),
      uid: `aws-iam-authenticator:${account}:${principalId}`,
      groups: identity.groups,
      extra: {
        accessKeyId: [accessKeyId],
        arn: [arn],
        canonicalArn: [canonical],
        principalId: [principalId],
        ...(sessionName && {sessionName: [sessionName]}),
      },
    };
    return {user: withAuthenticatedGroup(user)};
  }
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64');

const fill = (template: string, account: string, sessionName: string): string =>
  template
    .replaceAll('{{AccountID}}', () => account)
    // A user name with an @ would read as one of another issuer.
    .replaceAll('{{SessionName}}', () => sessionName.replaceAll('@', '-'))
    .replaceAll('{{SessionNameRaw}}', () => sessionName);
