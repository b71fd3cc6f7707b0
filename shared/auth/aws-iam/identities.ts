/**
 * Which AWS principals are which users: a document that a deployment carries, and the canonical form of ARNs that it is looked up by. Whether
 * somebody is a principal is told by ./token-verifier.ts.
 */

export interface Identity {
  /** Of a role, a user, the account's root or a federated user; canonical. */
  arn: string;
  /** Default: the ARN. `{{SessionName}}` and `{{AccountID}}` stand for the caller's own. Whoever may assume a role chooses the session's name. */
  username?: string;
  groups: readonly string[];
}

export interface IdentityDocument {
  /** What tokens must be signed for. */
  cluster: string;
  identities: readonly Identity[];
}

interface Principal {
  partition: string;
  account: string;
  /** `role/Name`, `user/path/Name`, `root`, `federated-user/Name` */
  resource: string;
  service: 'iam' | 'sts';
}

const arnPattern = /^arn:(aws(?:-[a-z]+)*):(iam|sts)::(\d{12}):([\w+=,.@/:-]+)$/;

/**
 * The form that all ARNs of a principal share: an assumed role is its role, and a role has no path, since a session's ARN does not tell it
 * (names of roles are unique in an account whatever their path).
 * @throws Error for what is no principal
 */
export function canonicalArn(arn: string): string {
  const {service, partition, account, resource} = parse(arn);
  const [kind, ...names] = resource.split('/');
  const iam = (what: string): string => `arn:${partition}:iam::${account}:${what}`;
  if (names.some((name) => name === '')) throw notPrincipal(arn);
  if (service === 'sts') {
    if (kind === 'assumed-role' && names.length === 2) return iam(`role/${names[0]}`);
    if (kind === 'federated-user' && names.length === 1) return arn;
  } else {
    if (resource === 'root') return arn;
    if (kind === 'role' && names.length > 0) return iam(`role/${names.at(-1)}`);
    if (kind === 'user' && names.length > 0) return arn;
  }
  throw notPrincipal(arn);
}

/** The canonical ARN of what somebody wrote into a setting. @throws Error */
export const parsePrincipal = (text: unknown): string => {
  if (typeof text !== 'string') throw notPrincipal(text);
  return canonicalArn(text);
};

function parse(arn: string): Principal {
  const match = arnPattern.exec(arn);
  if (!match) throw notPrincipal(arn);
  const [, partition, service, account, resource] = match as unknown as [string, string, 'iam' | 'sts', string, string];
  return {partition, service, account, resource};
}

export const partitionOf = (arn: string): string => parse(arn).partition;

const notPrincipal = (arn: unknown): Error =>
  new Error(`${JSON.stringify(arn)} is no ARN of a principal: want arn:aws:iam::ACCOUNT:role/NAME or :user/NAME`);

/** A list as JSON, or already parsed. @throws Error */
export function parseIdentities(value: unknown): Identity[] {
  const list: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  if (!Array.isArray(list)) throw new Error('want a list of {arn, username?, groups?}');
  return list.map((item: unknown) => {
    if (typeof item !== 'object' || item === null) throw new Error('want a list of {arn, username?, groups?}');
    const {arn, username, groups = [], ...unknown} = item as Record<string, unknown>;
    const [stranger] = Object.keys(unknown);
    if (stranger !== undefined) throw new Error(`identity of ${JSON.stringify(arn)} has an unknown field ${JSON.stringify(stranger)}`);
    if (username !== undefined && (typeof username !== 'string' || username === ''))
      throw new Error(`username of ${JSON.stringify(arn)} is no text`);
    if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string' && group !== ''))
      throw new Error(`groups of ${JSON.stringify(arn)} are no list of names`);
    return {arn: parsePrincipal(arn), ...(username !== undefined && {username}), groups: groups as string[]};
  });
}

/** What the deployment wrote. @throws Error */
export function parseIdentityDocument(text: string): IdentityDocument {
  const {cluster, identities} = JSON.parse(text) as Record<string, unknown>;
  if (typeof cluster !== 'string' || cluster === '') throw new Error('the identities name no cluster');
  return {cluster, identities: parseIdentities(identities)};
}
