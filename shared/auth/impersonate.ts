/**
 * Acting as somebody else. The narrow modes come first, each for one sort of user: it takes one right to impersonate that user and
 * another to do this very thing while impersonating. The old mode takes one right per part of the wanted user and leaves the rest open.
 */

import type {ApiRequest} from '../http/messages.ts';
import {forbiddenMessage} from './forbidden.ts';
import {
  anonymousName,
  authenticatedGroup,
  nodesGroup,
  parseNodeUser,
  parseServiceAccountUser,
  serviceAccountGroups,
  unauthenticatedGroup,
} from './groups.ts';
import {invalidExtra} from './impersonation-extra.ts';
import {wantedUser} from './impersonation-headers.ts';
import {RecentMap} from './recent-map.ts';
import {type Attributes, type Authorizer, mastersGroup, type UserInfo} from './user.ts';

export interface Impersonated {
  user: UserInfo;
  /** The verb that allowed it; empty in the old mode. For audit. */
  constraint: string;
}

interface Mode {
  /** `impersonate`, or `impersonate:<name>` for a narrow mode. */
  name: string;
  applies(wanted: UserInfo, requestor: UserInfo): boolean;
}

const onlyNamed = ({uid, groups, extra}: UserInfo): boolean => !uid && groups.length === 0 && !extra;
const nodeNameKey = 'authentication.kubernetes.io/node-name';

const modes: readonly Mode[] = [
  {name: 'associated-node', applies: (wanted, requestor) => onlyNamed(wanted) && runsOn(requestor, wanted.name)},
  {name: 'arbitrary-node', applies: (wanted) => onlyNamed(wanted) && parseNodeUser(wanted.name) !== undefined},
  {name: 'serviceaccount', applies: (wanted) => onlyNamed(wanted) && parseServiceAccountUser(wanted.name) !== undefined},
  {name: 'user-info', applies: ({name}) => parseNodeUser(name) === undefined && parseServiceAccountUser(name) === undefined},
  {name: '', applies: () => true},
];

/** A pod's service account on the node that it wants to be. */
function runsOn(requestor: UserInfo, wantedName: string): boolean {
  const node = parseNodeUser(wantedName);
  const values = requestor.extra?.[nodeNameKey];
  return node !== undefined && parseServiceAccountUser(requestor.name) !== undefined && values?.length === 1 && values[0] === node;
}

const maxRemembered = 4_096;
/** With this many groups or extras, one question for all of them comes first. */
const manyParts = 4;

export class Impersonator {
  readonly #authorizer: Authorizer;
  /** The mode that worked last for a user is tried first, and its refusal is the one that is told. */
  readonly #lastMode = new RecentMap<string, Mode>(maxRemembered);
  /** One object per wanted user, for authorizers that keep their answers by it. */
  readonly #users = new RecentMap<string, UserInfo>(maxRemembered);

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** The user whom a request is to be from; undefined when it asks for nobody. @throws StatusError 400, 403 */
  async actingUser(headers: ApiRequest['headers'], attributes: Attributes): Promise<Impersonated | undefined> {
    const wanted = wantedUser(headers);
    return wanted && this.impersonate(wanted, attributes);
  }

  /**
   * @param attributes the request as it stands, by the user who makes it
   * @throws StatusError 403 with the first refusal
   */
  async impersonate(wanted: UserInfo, attributes: Attributes): Promise<Impersonated> {
    const requestor = attributes.user;
    const last = this.#lastMode.get(requestor.name);
    let refusal: unknown;
    for (const mode of last ? [last, ...modes.filter((other) => other !== last)] : modes) {
      if (!mode.applies(wanted, requestor)) continue;
      try {
        const user = await this.#check(mode, wanted, attributes);
        this.#lastMode.set(requestor.name, mode);
        return {user: this.#interned(user), constraint: mode.name && `impersonate:${mode.name}`};
      } catch (error) {
        refusal ??= error;
      }
    }
    throw refusal;
  }

  async #check(mode: Mode, wanted: UserInfo, attributes: Attributes): Promise<UserInfo> {
    // Whichever node it is: the filter has seen that it is the requestor's own.
    const asks: Attributes = mode.name === 'associated-node' ? {...attributes, user: withoutNode(attributes.user)} : attributes;
    if (mode.name) await this.#require({...asks, verb: `impersonate-on:${mode.name}:${attributes.verb}`});
    const verb = mode.name ? `impersonate:${mode.name}` : 'impersonate';
    const question = (group: string, resource: string, name: string): Attributes => ({
      user: asks.user,
      verb,
      isResourceRequest: true,
      namespace: '',
      apiGroup: group,
      apiVersion: 'v1',
      resource,
      subresource: '',
      name,
      path: '',
    });
    // The old mode has users and groups in the core group.
    const group = mode.name ? 'authentication.k8s.io' : '';
    const groups = await this.#requireUser(mode, wanted, (resource, name) => question(group, resource, name));
    if (wanted.uid) await this.#require(question('authentication.k8s.io', 'uids', wanted.uid));
    await this.#requireGroups(mode, wanted.groups, (name) => question(group, 'groups', name));
    await this.#requireExtra(mode, wanted.extra ?? {}, (key, value) => ({
      ...question('authentication.k8s.io', 'userextras', value),
      subresource: key,
    }));
    return {...wanted, groups: withEveryone(wanted.name, groups)};
  }

  /** Answers with the groups that the user will have: those of nodes and service accounts are known. */
  async #requireUser(mode: Mode, wanted: UserInfo, question: (resource: string, name: string) => Attributes): Promise<readonly string[]> {
    const node = mode.name ? parseNodeUser(wanted.name) : undefined;
    if (node !== undefined) {
      await this.#require(question('nodes', mode.name === 'associated-node' ? '*' : node));
      return [nodesGroup];
    }
    const account = parseServiceAccountUser(wanted.name);
    if (!account) {
      await this.#require(question('users', wanted.name));
      return wanted.groups;
    }
    await this.#require({...question('serviceaccounts', account.name), namespace: account.namespace});
    return wanted.groups.length === 0 ? serviceAccountGroups(account.namespace) : wanted.groups;
  }

  async #requireGroups(mode: Mode, groups: readonly string[], question: (name: string) => Attributes): Promise<void> {
    if (mode.name) {
      if (groups.includes('')) throw forbiddenMessage(question(''), 'impersonating the empty string group is not allowed');
      if (groups.includes(mastersGroup))
        throw forbiddenMessage(question(mastersGroup), 'impersonating the system:masters group is not allowed');
      if (groups.length >= manyParts && (await this.#allows(question('*')))) return;
    }
    for (const group of groups) await this.#require(question(group));
  }

  async #requireExtra(
    mode: Mode,
    extra: Readonly<Record<string, readonly string[]>>,
    question: (key: string, value: string) => Attributes,
  ): Promise<void> {
    const all = Object.entries(extra);
    if (mode.name && all.length > 0) {
      const problem = invalidExtra(extra);
      if (problem) throw forbiddenMessage(question('', ''), problem);
      const parts = all.reduce((count, [, values]) => count + values.length, 0);
      if (parts >= manyParts && (await this.#allows(question('*', '*')))) return;
    }
    for (const [key, values] of all) for (const value of values) await this.#require(question(key, value));
  }

  async #allows(attributes: Attributes): Promise<boolean> {
    return (await this.#authorizer.authorize(attributes)).decision === 'allow';
  }

  async #require(attributes: Attributes): Promise<void> {
    const {decision, reason} = await this.#authorizer.authorize(attributes);
    if (decision !== 'allow') throw forbiddenMessage(attributes, reason);
  }

  #interned(user: UserInfo): UserInfo {
    const key = JSON.stringify(user);
    const known = this.#users.get(key);
    if (!known) this.#users.set(key, user);
    return known ?? user;
  }
}

function withEveryone(name: string, groups: readonly string[]): readonly string[] {
  const group = name === anonymousName ? unauthenticatedGroup : authenticatedGroup;
  if (groups.includes(group) || groups.includes(unauthenticatedGroup)) return groups;
  return [...groups, group];
}

/** What the pod is bound to is left out: that it belongs to the node has been checked. */
function withoutNode(user: UserInfo): UserInfo {
  return {...user, extra: {'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra ?? {}).sort()}};
}
