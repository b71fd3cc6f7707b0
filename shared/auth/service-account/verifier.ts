/**
 * Verifies service-account tokens: signature, times, audience, and that the account and whatever the token is bound to still exist.
 * The signature is checked once per token; the objects again every few seconds, and at once when one is known to have changed.
 */
import type {Clock} from '../../clock.ts';
import {quoteList} from '../rbac/rules.ts';
import {RecentMap} from '../recent-map.ts';
import type {UserInfo} from '../user.ts';
import {audiencesOf, type Claims, leewaySeconds, type ObjectReference, timeProblem, userOf} from './claims.ts';
import type {VerificationKey} from './keys.ts';

export type BoundResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes';

/** What tokens are bound to, as it is now. `namespace` is empty for nodes. */
export interface BoundObjects {
  get(resource: BoundResource, namespace: string, name: string): Promise<{uid: string; deletionTimestamp?: string} | undefined>;
}

export type Verified = {user: UserInfo; audiences: readonly string[]};
/** `not ours`: of another issuer, or no token of this kind at all. An error is for TokenReview to tell. */
export type Verification = Verified | {error: string} | 'not ours';

export interface VerifierOptions {
  keys: readonly VerificationKey[];
  issuers: readonly string[];
  /** What this API server answers to: a token for one of them is good for requests. */
  audiences: readonly string[];
  objects: BoundObjects;
  clock: Clock;
}

interface Known {
  claims: Claims;
  user: UserInfo;
  /** `serviceaccounts/ns/name` and the like: what `forget` compares with. */
  bound: readonly string[];
  /** Until then the objects need not be looked up again. */
  trustedUntil: number;
}

const maxKnownTokens = 4_096;
/** As long as the reference trusts a verified token; `forget` is quicker. */
const trustMs = 10_000;
/** Longer than any token that this server signs, and short enough to parse without thought. */
const maxTokenLength = 64 * 1024;

export class ServiceAccountVerifier {
  readonly #options: VerifierOptions;
  readonly #known = new RecentMap<string, Known>(maxKnownTokens);
  /** How often objects were forgotten: a look-up that a deletion overtook is not trusted. */
  #forgotten = 0;

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /** The user of a token that was verified just now. Undefined: ask `verify`. */
  cached(token: string): UserInfo | undefined {
    const known = this.#known.get(token);
    if (!known) return undefined;
    const now = this.#options.clock.now();
    if (now >= known.trustedUntil || timeProblem(known.claims, now / 1000)) return undefined;
    return this.#accepts(known.claims, this.#options.audiences).length > 0 ? known.user : undefined;
  }

  async verify(token: string, audiences: readonly string[] = this.#options.audiences): Promise<Verification> {
    let known = this.#known.get(token);
    let claims = known?.claims;
    if (!claims) {
      const read = await this.#readSigned(token);
      if (read === 'not ours' || 'error' in read) return read;
      ({claims} = read);
    }
    const accepted = this.#accepts(claims, audiences);
    if (accepted.length === 0) {
      const own = audiencesOf(claims);
      return {error: `token audiences ${quoteList(own)} is invalid for the target audiences ${quoteList(audiences)}`};
    }
    const now = this.#options.clock.now();
    const problem = timeProblem(claims, now / 1000);
    if (problem) return {error: problem};
    if (!known || now >= known.trustedUntil) {
      const forgotten = this.#forgotten;
      const gone = await this.#missingObject(claims, now);
      if (gone) {
        this.#known.delete(token);
        return {error: gone};
      }
      known ??= {claims, user: withEveryone(userOf(claims)), bound: boundTo(claims), trustedUntil: 0};
      this.#known.set(token, known);
      if (forgotten === this.#forgotten) known.trustedUntil = now + trustMs;
    }
    return {user: known.user, audiences: accepted};
  }

  /** An object that tokens may be bound to was deleted, is going, or was replaced: its tokens are looked at again when next used. */
  forget(resource: BoundResource, key: string): void {
    const name = `${resource}/${key}`;
    this.#forgotten++;
    this.#known.deleteWhere((known) => known.bound.includes(name));
  }

  /** Tokens without an audience are for the API server. */
  #accepts(claims: Claims, wanted: readonly string[]): readonly string[] {
    const own = audiencesOf(claims);
    const [first] = own;
    if (own.length === 1 && wanted.length === 1 && first === wanted[0]) return own;
    return (own.length === 0 ? this.#options.audiences : own).filter((audience) => wanted.includes(audience));
  }

  async #readSigned(token: string): Promise<{claims: Claims} | {error: string} | 'not ours'> {
    const {issuers, keys} = this.#options;
    const parts = token.length > maxTokenLength ? [] : token.split('.');
    if (parts.length !== 3) return 'not ours';
    const payload = decode(parts[1]!);
    const header = decode(parts[0]!);
    if (!header || typeof payload?.['iss'] !== 'string' || !issuers.includes(payload['iss'])) return 'not ours';
    const candidates = keys.filter((key) => !header['kid'] || key.id === header['kid']);
    if (candidates.length === 0) return {error: 'invalid signature, no keys found'};
    // Loaded when the first token arrives: certificates and static tokens need none of it.
    const {compactVerify} = await import('jose');
    for (const {key, algorithm} of candidates) {
      try {
        await compactVerify(token, key, {algorithms: [algorithm]});
        return {claims: payload as Claims};
      } catch {
        // Another key may fit.
      }
    }
    return {error: 'go-jose/go-jose: error in cryptographic primitive'};
  }

  /** Says what the token is bound to and is no more, in the reference's words. */
  async #missingObject(claims: Claims, now: number): Promise<string | undefined> {
    const {objects} = this.#options;
    const {namespace = '', serviceaccount = {}, secret, pod, node} = claims['kubernetes.io'] ?? {};
    const goneBefore = now - leewaySeconds * 1000;
    const account = await objects.get('serviceaccounts', namespace, serviceaccount.name ?? '');
    if (!account) return `serviceaccounts ${JSON.stringify(serviceaccount.name ?? '')} not found`;
    if (account.uid !== serviceaccount.uid)
      return `service account UID (${account.uid}) does not match claim (${serviceaccount.uid ?? ''})`;
    if (isGone(account, goneBefore)) return `service account ${namespace}/${serviceaccount.name} has been deleted`;
    const still = async (resource: BoundResource, word: string, within: string, reference: ObjectReference) => {
      const object = await objects.get(resource, within, reference.name ?? '');
      if (object && object.uid !== reference.uid)
        return `${word} UID (${object.uid}) does not match service account ${word} ref claim (${reference.uid ?? ''})`;
      return !object || isGone(object, goneBefore) ? 'service account token has been invalidated' : undefined;
    };
    return (
      (secret && (await still('secrets', 'secret', namespace, secret))) ||
      (pod && (await still('pods', 'pod', namespace, pod))) ||
      // A pod's node is told, not bound to.
      (node && !pod ? await still('nodes', 'node', '', node) : undefined)
    );
  }
}

const withEveryone = (user: UserInfo): UserInfo => ({...user, groups: [...user.groups, 'system:authenticated']});

const isGone = (object: {deletionTimestamp?: string}, before: number): boolean =>
  object.deletionTimestamp !== undefined && Date.parse(object.deletionTimestamp) < before;

function boundTo(claims: Claims): string[] {
  const {namespace, serviceaccount, secret, pod, node} = claims['kubernetes.io'] ?? {};
  const bound = [`serviceaccounts/${namespace}/${serviceaccount?.name}`];
  if (secret) bound.push(`secrets/${namespace}/${secret.name}`);
  if (pod) bound.push(`pods/${namespace}/${pod.name}`);
  if (node && !pod) bound.push(`nodes/${node.name}`);
  return bound;
}

function decode(part: string): Record<string, unknown> | undefined {
  if (!/^[\w-]*$/.test(part)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
