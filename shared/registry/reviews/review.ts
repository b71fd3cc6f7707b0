/** What a review is: an object posted to be answered, never stored. Whom a review asks stands here as little as it needs to know of them. */
import type {Authorizer, UserInfo} from '../../auth/user.ts';
import type {KubeObject} from '../../object.ts';

export interface PolicyRule {
  verbs: readonly string[];
  apiGroups?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
  nonResourceURLs?: readonly string[];
}

export interface RuleResolver {
  grantsFor(user: UserInfo, namespace: string): {grants: readonly {rule: PolicyRule}[]; errors: readonly string[]};
}

export interface Tokens {
  /** What this API server answers to. */
  readonly audiences: readonly string[];
  authenticate(token: string, audiences?: readonly string[]): Promise<{user?: UserInfo; audiences?: readonly string[]; error?: string}>;
}

interface Reference {
  name?: string;
  uid?: string;
}

export interface Issuer {
  issue(
    binding: {namespace: string; serviceAccount: Reference; pod?: Reference; secret?: Reference; node?: Reference},
    terms: {audiences: readonly string[]; now: number; expirationSeconds: number; warnAfterSeconds?: number},
  ): Promise<{token: string; credentialId: string}>;
}

export interface ReviewServices {
  authorizer: Authorizer;
  rbac: RuleResolver;
  tokens: Tokens;
  issuer: Issuer;
}

export interface ReviewContext extends ReviewServices {
  user: UserInfo;
  /** Of the request; empty at cluster scope. */
  namespace: string;
  /** In the URL: whose subresource is posted to. */
  name: string;
  /** Wall time, ms since the epoch. */
  now: number;
  dryRun: boolean;
  /** The newest state of an object; namespace is empty for cluster-scoped types. */
  read(storageType: string, namespace: string, name: string): Promise<KubeObject | undefined>;
}

/** Takes the decoded and defaulted object, which has a spec and in which it may write, and returns the answer. @throws StatusError */
export type Review = (context: ReviewContext, object: KubeObject) => Promise<KubeObject>;
