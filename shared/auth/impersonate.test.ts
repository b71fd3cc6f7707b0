import {describe, expect, test} from 'vitest';
import type {KubeObject} from '../object.ts';
import {createAuthorizer} from './authorize.ts';
import {Impersonator} from './impersonate.ts';
import {impersonates, wantedUser} from './impersonation-headers.ts';
import {RbacAuthorizer} from './rbac/rbac-authorizer.ts';
import {RbacIndex, type RbacKind} from './rbac/rbac-index.ts';
import {asks, asksPath, clusterRole, clusterRoleBinding, refusalOf, userNamed} from './testing.ts';
import type {Attributes, UserInfo} from './user.ts';

function impersonatorWith(...objects: KubeObject[]) {
  const index = new RbacIndex();
  for (const object of objects) index.set(object.kind as RbacKind, object);
  return new Impersonator(createAuthorizer({rbac: new RbacAuthorizer(index)}));
}

const admin = userNamed('admin', 'system:masters', 'system:authenticated');
const bob = userNamed('bob', 'system:authenticated');
const lists = (user: UserInfo): Attributes => asks(user, 'list', 'pods', {namespace: 'default'});
const acting = async (impersonator: Impersonator, headers: Record<string, string>, user: UserInfo) =>
  (await impersonator.actingUser(headers, lists(user)))?.user;

describe('headers', () => {
  test('a request without them is let be', () => {
    expect(impersonates({accept: 'x', 'impersonated-by': 'y'})).toBe(false);
    expect(impersonates({'impersonate-user': 'a'})).toBe(true);
    expect(wantedUser({'impersonate-user': ''})).toBeUndefined();
  });

  test('name a user with everything that belongs to them', () => {
    expect(
      wantedUser({
        'impersonate-user': 'a',
        'impersonate-uid': 'u-1',
        'impersonate-group': 'g,h, system:masters',
        'impersonate-extra-acme.com%2fproject': '1',
        'impersonate-extra-b%zz': '1',
        'impersonate-extra-c': 'x,y, z',
      }),
    ).toEqual({
      name: 'a',
      uid: 'u-1',
      groups: ['g,h', 'system:masters'],
      extra: {'acme.com/project': ['1'], 'b%zz': ['1'], c: ['x,y', 'z']},
    });
  });

  test.each([
    [{'impersonate-group': 'g'}, 'UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)'],
    [{'impersonate-uid': 'u"1'}, 'UID:"u\\"1", Groups:[]string(nil), Extra:map[string][]string(nil)'],
    [
      {'impersonate-extra-foo': 'g', 'impersonate-extra-bar': 'x,y, z'},
      'UID:"", Groups:[]string(nil), Extra:map[string][]string{"bar":[]string{"x,y", "z"}, "foo":[]string{"g"}}',
    ],
  ])('a part without a user is refused: %j', async (headers, parts) => {
    const refusal = await refusalOf(() => wantedUser(headers as Record<string, string>));
    expect(refusal.status.code).toBe(400);
    expect(refusal.message).toBe(`requested &user.DefaultInfo{Name:"", ${parts}} without impersonating a user name`);
  });
});

describe('an administrator', () => {
  test.each<[Record<string, string>, UserInfo]>([
    [{'impersonate-user': 'alice'}, {name: 'alice', groups: ['system:authenticated']}],
    [
      {'impersonate-user': 'system:serviceaccount:default:x'},
      {
        name: 'system:serviceaccount:default:x',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    ],
    [
      {'impersonate-user': 'system:serviceaccount:default:x', 'impersonate-group': 'system:masters'},
      {name: 'system:serviceaccount:default:x', groups: ['system:masters', 'system:authenticated']},
    ],
    [
      {'impersonate-user': 'system:anonymous', 'impersonate-group': 'system:masters'},
      {name: 'system:anonymous', groups: ['system:masters', 'system:unauthenticated']},
    ],
    [
      {'impersonate-user': 'a', 'impersonate-group': 'system:unauthenticated, g'},
      {name: 'a', groups: ['system:unauthenticated', 'g']},
    ],
    [{'impersonate-user': 'system:node:x'}, {name: 'system:node:x', groups: ['system:nodes', 'system:authenticated']}],
  ])('acts as %j', async (headers, user) => {
    expect(await acting(impersonatorWith(), headers, admin)).toEqual(user);
  });

  test('is one object for one wanted user, as authorizers keep answers by it', async () => {
    const impersonator = impersonatorWith();
    const headers = {'impersonate-user': 'alice'};
    expect(await acting(impersonator, headers, admin)).toBe(await acting(impersonator, headers, admin));
  });
});

describe('without rights', () => {
  const refused = async (headers: Record<string, string>, attributes = lists(bob)) =>
    (await refusalOf(() => impersonatorWith().actingUser(headers, attributes))).message;

  test.each([
    ['alice', 'user-info'],
    ['system:serviceaccount:default:x', 'serviceaccount'],
    ['system:node:x', 'arbitrary-node'],
    ['system:serviceaccount:default', 'user-info'],
  ])('%s is refused by the first mode for such users', async (name, mode) => {
    expect(await refused({'impersonate-user': name})).toBe(
      `pods is forbidden: User "bob" cannot impersonate-on:${mode}:list resource "pods" in API group "" in the namespace "default"`,
    );
  });

  test('paths are refused by their name', async () => {
    expect(await refused({'impersonate-user': 'alice'}, asksPath(bob, 'get', '/version'))).toBe(
      'forbidden: User "bob" cannot impersonate-on:user-info:get path "/version"',
    );
  });
});

describe('with one right for each part', () => {
  const old = (resources: string[], resourceNames?: string[], apiGroups = ['']) => ({
    verbs: ['impersonate'],
    apiGroups,
    resources,
    ...(resourceNames && {resourceNames}),
  });
  const impersonator = () =>
    impersonatorWith(
      clusterRole('i', [
        old(['users'], ['alice']),
        old(['groups'], ['devs']),
        old(['uids'], ['u-1'], ['authentication.k8s.io']),
        old(['userextras/scopes'], ['view'], ['authentication.k8s.io']),
        old(['serviceaccounts'], ['x']),
      ]),
      clusterRoleBinding('i', 'i', 'bob'),
    );

  test('all parts that are allowed make the user', async () => {
    const headers = {
      'impersonate-user': 'alice',
      'impersonate-group': 'devs',
      'impersonate-uid': 'u-1',
      'impersonate-extra-scopes': 'view',
    };
    expect(await acting(impersonator(), headers, bob)).toEqual({
      name: 'alice',
      uid: 'u-1',
      groups: ['devs', 'system:authenticated'],
      extra: {scopes: ['view']},
    });
    expect(await acting(impersonator(), {'impersonate-user': 'system:serviceaccount:ns:x'}, bob)).toMatchObject({
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    });
  });

  test('once that has worked, its refusals are the ones told', async () => {
    const known = impersonator();
    await acting(known, {'impersonate-user': 'alice'}, bob);
    const refusal = await refusalOf(() => acting(known, {'impersonate-user': 'alice', 'impersonate-group': 'ops'}, bob));
    expect(refusal.message).toBe(
      'groups "ops" is forbidden: User "bob" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
  });
});

describe('with the narrow rights', () => {
  const group = 'authentication.k8s.io';
  const on = (mode: string) => ({verbs: [`impersonate-on:${mode}:list`], apiGroups: [''], resources: ['pods']});
  const may = (mode: string, resource: string, ...resourceNames: string[]) => ({
    verbs: [`impersonate:${mode}`],
    apiGroups: [group],
    resources: [resource],
    ...(resourceNames.length > 0 && {resourceNames}),
  });
  const impersonator = (...rules: object[]) => impersonatorWith(clusterRole('i', rules), clusterRoleBinding('i', 'i', 'bob'));

  test('it takes the right to be the user and the right to do this as them', async () => {
    const both = impersonator(on('user-info'), may('user-info', 'users', 'alice'));
    const acted = await both.actingUser({'impersonate-user': 'alice'}, lists(bob));
    expect(acted).toEqual({user: {name: 'alice', groups: ['system:authenticated']}, constraint: 'impersonate:user-info'});
    const other = {...lists(bob), verb: 'delete'};
    expect((await refusalOf(() => both.actingUser({'impersonate-user': 'alice'}, other))).message).toContain(
      'cannot impersonate-on:user-info:delete resource "pods"',
    );
  });

  test('nobody becomes an administrator by them', async () => {
    const all = impersonator(on('user-info'), may('user-info', 'users'), may('user-info', 'groups'));
    const headers = {'impersonate-user': 'alice', 'impersonate-group': 'system:masters'};
    expect((await refusalOf(() => acting(all, headers, bob))).message).toContain('impersonating the system:masters group is not allowed');
  });

  test('a pod may be its own node, and no other', async () => {
    const agent: UserInfo = {
      name: 'system:serviceaccount:ns:agent',
      groups: [],
      extra: {'authentication.kubernetes.io/node-name': ['n1']},
    };
    const both = impersonatorWith(
      clusterRole('i', [on('associated-node'), may('associated-node', 'nodes', '*')]),
      clusterRoleBinding('i', 'i', agent.name),
    );
    expect(await acting(both, {'impersonate-user': 'system:node:n1'}, agent)).toEqual({
      name: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    });
    expect((await refusalOf(() => acting(both, {'impersonate-user': 'system:node:n2'}, agent))).status.code).toBe(403);
  });
});
