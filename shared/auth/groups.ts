/** The names of users and groups that the system itself gives. */
import {dns1123Label, dns1123Subdomain} from '../kinds/common/names.ts';
import type {UserInfo} from './user.ts';

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const nodesGroup = 'system:nodes';
export const anonymousName = 'system:anonymous';
export const credentialIdKey = 'authentication.kubernetes.io/credential-id';

/** Everybody who has shown who they are is in system:authenticated. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const {groups} = user;
  if (user.name === anonymousName || groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)) return user;
  return {...user, groups: [...groups, authenticatedGroup]};
}

const serviceAccountPrefix = 'system:serviceaccount:';

export const serviceAccountUser = (namespace: string, name: string): string => `${serviceAccountPrefix}${namespace}:${name}`;
export const serviceAccountGroups = (namespace: string): string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];

/** The service account that a user name stands for, if it does. */
export function parseServiceAccountUser(name: string): {namespace: string; name: string} | undefined {
  if (!name.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace = '', account = '', ...more] = name.slice(serviceAccountPrefix.length).split(':');
  if (more.length > 0 || dns1123Label(namespace).length > 0 || dns1123Subdomain(account).length > 0) return undefined;
  return {namespace, name: account};
}

/** The node that a user name stands for, if it does. */
export function parseNodeUser(name: string): string | undefined {
  const prefix = 'system:node:';
  const node = name.slice(prefix.length);
  return name.startsWith(prefix) && dns1123Subdomain(node).length === 0 ? node : undefined;
}

/** A node stands for itself alone, whatever its roles let it do to others. */
export const isAnotherNode = ({name, groups}: UserInfo, node: string): boolean =>
  groups.includes(nodesGroup) && parseNodeUser(name) !== node;
