/** Shorthand for stories about who may do what. */
import type {KubeObject} from '../object.ts';
import type {Attributes, UserInfo} from './user.ts';

const noAttributes = {namespace: '', apiGroup: '', apiVersion: '', resource: '', subresource: '', name: '', path: ''};

/** A question about a resource. */
export const asks = (user: UserInfo, verb: string, resource: string, more: Partial<Attributes> = {}): Attributes => ({
  ...noAttributes,
  apiVersion: 'v1',
  user,
  verb,
  isResourceRequest: true,
  resource,
  ...more,
});

export const asksPath = (user: UserInfo, verb: string, path: string): Attributes => ({
  ...noAttributes,
  user,
  verb,
  isResourceRequest: false,
  path,
});

export const userNamed = (name: string, ...groups: string[]): UserInfo => ({name, groups});

const apiGroup = 'rbac.authorization.k8s.io';

export const clusterRole = (name: string, rules: object[], more: object = {}): KubeObject => ({
  kind: 'ClusterRole',
  apiVersion: `${apiGroup}/v1`,
  metadata: {name},
  rules,
  ...more,
});

export const role = (namespace: string, name: string, rules: object[]): KubeObject => ({
  kind: 'Role',
  apiVersion: `${apiGroup}/v1`,
  metadata: {name, namespace},
  rules,
});

/** Binds a role to users. */
export const clusterRoleBinding = (name: string, to: string, ...users: string[]): KubeObject => ({
  kind: 'ClusterRoleBinding',
  apiVersion: `${apiGroup}/v1`,
  metadata: {name},
  roleRef: {apiGroup, kind: 'ClusterRole', name: to},
  subjects: users.map((user) => ({kind: 'User', apiGroup, name: user})),
});

export const roleBinding = (namespace: string, name: string, kind: string, to: string, ...users: string[]): KubeObject => ({
  ...clusterRoleBinding(name, to, ...users),
  kind: 'RoleBinding',
  metadata: {name, namespace},
  roleRef: {apiGroup, kind, name: to},
});

/** The error that a call throws, now or later. */
export async function refusalOf(act: () => unknown): Promise<{message: string; status: {code: number; reason?: string; details?: object}}> {
  try {
    await act();
  } catch (error) {
    return error as never;
  }
  throw new Error('nothing was refused');
}
