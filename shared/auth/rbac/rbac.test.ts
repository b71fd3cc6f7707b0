import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {desiredStages} from '../../controllers/bootstrap/desired.ts';
import type {KubeObject} from '../../object.ts';
import {asks, asksPath, clusterRole, clusterRoleBinding, refusalOf, role, roleBinding, userNamed} from '../testing.ts';
import {checkEscalation} from './escalation.ts';
import {RbacAuthorizer} from './rbac-authorizer.ts';
import {RbacIndex, type RbacKind} from './rbac-index.ts';

function authorizerOf(objects: readonly KubeObject[]) {
  const index = new RbacIndex();
  for (const object of objects) index.set(object.kind as RbacKind, object);
  return {index, authorizer: new RbacAuthorizer(index)};
}

const bootstrapped = (): KubeObject[] =>
  desiredStages({}, 0)
    .flat()
    .map(({object}) => object)
    .filter(({apiVersion}) => apiVersion.startsWith('rbac.'));

interface Recorded {
  objects: KubeObject[];
  answers: {
    user: string;
    groups?: string[];
    resource?: {verb?: string; group?: string; resource?: string; subresource?: string; namespace?: string; name?: string};
    path?: {path: string; verb: string};
    allowed: boolean;
    reason?: string;
  }[];
}

describe('decisions of the reference', () => {
  const recorded: Recorded = JSON.parse(readFileSync(new URL('./data/recorded-decisions.json', import.meta.url), 'utf8'));
  const {authorizer} = authorizerOf([...bootstrapped(), ...recorded.objects]);

  test.each(
    recorded.answers.map((answer) => [`${answer.user} ${JSON.stringify(answer.resource ?? answer.path)}`, answer] as const),
  )('%s', (_title, answer) => {
    const user = userNamed(answer.user, ...(answer.groups ?? []));
    const {verb = '', group = '', resource = '', ...more} = answer.resource ?? {};
    const decision = authorizer.authorize(
      answer.path ? asksPath(user, answer.path.verb, answer.path.path) : asks(user, verb, resource, {apiGroup: group, ...more}),
    );
    expect(decision.decision === 'allow').toBe(answer.allowed);
    expect(decision.reason).toBe(answer.reason);
  });
});

describe('answers that are kept', () => {
  const reads = [{verbs: ['get'], apiGroups: [''], resources: ['pods']}];
  const ann = userNamed('ann');

  test('a binding that comes or goes is seen by the next question', () => {
    const {index, authorizer} = authorizerOf([clusterRole('r', reads)]);
    const decide = () => authorizer.authorize(asks(ann, 'get', 'pods')).decision;
    expect(decide()).toBe('no opinion');
    index.set('ClusterRoleBinding', clusterRoleBinding('b', 'r', 'ann'));
    expect(decide()).toBe('allow');
    index.set('ClusterRoleBinding', clusterRoleBinding('b', 'r', 'bob'));
    expect(decide()).toBe('no opinion');
    index.set('ClusterRoleBinding', clusterRoleBinding('b', 'r', 'ann'));
    index.delete('ClusterRole', 'r');
    expect(authorizer.authorize(asks(ann, 'get', 'pods'))).toEqual({
      decision: 'no opinion',
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "r" not found',
    });
  });

  test('no question is taken for another that reads alike', () => {
    const {authorizer} = authorizerOf([
      clusterRole('r', [{verbs: ['get'], apiGroups: ['a'], resources: ['bc']}]),
      clusterRoleBinding('b', 'r', 'ann'),
    ]);
    const decide = (group: string, resource: string, subresource = '') =>
      authorizer.authorize(asks(ann, 'get', resource, {apiGroup: group, subresource})).decision;
    expect(decide('a', 'bc')).toBe('allow');
    expect(decide('ab', 'c')).toBe('no opinion');
    expect(decide('a', 'b', 'c')).toBe('no opinion');
    expect(authorizer.authorize(asks(ann, 'getbc', '', {apiGroup: 'a'})).decision).toBe('no opinion');
  });

  test('a role of one namespace says nothing in another', () => {
    const {index, authorizer} = authorizerOf([role('one', 'r', reads), roleBinding('one', 'b', 'Role', 'r', 'ann')]);
    expect(authorizer.authorize(asks(ann, 'get', 'pods', {namespace: 'one'})).reason).toBe(
      'RBAC: allowed by RoleBinding "b/one" of Role "r" to User "ann"',
    );
    expect(authorizer.authorize(asks(ann, 'get', 'pods', {namespace: 'two'})).decision).toBe('no opinion');
    index.delete('RoleBinding', 'one/b');
    expect(authorizer.authorize(asks(ann, 'get', 'pods', {namespace: 'one'})).decision).toBe('no opinion');
  });
});

describe('aggregated roles', () => {
  test('hold what they gather, through others that gather', () => {
    const {index, authorizer} = authorizerOf([...bootstrapped(), clusterRoleBinding('b', 'admin', 'ann')]);
    const ann = userNamed('ann');
    expect(authorizer.authorize(asks(ann, 'get', 'pods')).decision).toBe('allow');
    expect(authorizer.authorize(asks(ann, 'get', 'widgets', {apiGroup: 'acme.io'})).decision).toBe('no opinion');
    const labels = {'rbac.authorization.k8s.io/aggregate-to-view': 'true'};
    const widgets = clusterRole('widgets', [{verbs: ['get'], apiGroups: ['acme.io'], resources: ['widgets']}]);
    index.set('ClusterRole', {...widgets, metadata: {name: 'widgets', labels}});
    expect(authorizer.authorize(asks(ann, 'get', 'widgets', {apiGroup: 'acme.io'})).decision).toBe('allow');
  });

  test('a circle ends', () => {
    const gathers = (name: string, label: string, from: string) => ({
      ...clusterRole(name, [], {aggregationRule: {clusterRoleSelectors: [{matchLabels: {[from]: 'y'}}]}}),
      metadata: {name, labels: {[label]: 'y'}},
    });
    const {index} = authorizerOf([gathers('a', 'x', 'y'), gathers('b', 'y', 'x')]);
    expect(index.aggregatedRules('a')).toEqual([]);
  });
});

describe('nobody hands out more than they have', () => {
  const group = 'rbac.authorization.k8s.io';
  const bob = {name: 'bob', groups: ['', 'system:authenticated']};
  const held = [
    {verbs: ['create', 'update'], apiGroups: [group], resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']},
    {verbs: ['get', 'list'], apiGroups: [''], resources: ['pods']},
    {verbs: ['get'], apiGroups: ['apps'], resources: ['*/scale']},
    {verbs: ['get'], nonResourceURLs: ['/idw/*']},
    {verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['s1']},
  ];
  const {index, authorizer} = authorizerOf([
    clusterRole('held', held),
    clusterRoleBinding('held', 'held', 'bob'),
    clusterRole('binder', [
      {verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: ['everything']},
      {verbs: ['escalate'], apiGroups: [group], resources: ['roles'], resourceNames: ['free']},
    ]),
    roleBinding('ns', 'binder', 'ClusterRole', 'binder', 'bob'),
    clusterRole('everything', [
      {verbs: ['*'], apiGroups: ['*'], resources: ['*']},
      {verbs: ['*'], nonResourceURLs: ['*']},
    ]),
    role('ns', 'target', [{verbs: ['*'], apiGroups: [''], resources: ['configmaps']}]),
  ]);
  const check = (resource: string, object: KubeObject, more: {old?: KubeObject; user?: typeof bob} = {}) =>
    checkEscalation({user: bob, authorizer, rbac: index, resource: {group, resource}, object, ...more});
  const lacks = (about: string, ...lines: string[]) =>
    `${about} is forbidden: user "bob" (groups=["" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;

  test('what is covered may be granted', async () => {
    await check('roles', role('ns', 'a', [{verbs: ['get'], apiGroups: [''], resources: ['pods']}]));
    await check('roles', role('ns', 'a', [{verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale']}]));
    await check('clusterroles', clusterRole('a', [{verbs: ['get'], nonResourceURLs: ['/idw/x']}]));
  });

  test('what is not is listed, verbs of one thing together', async () => {
    const wanted = [
      {verbs: ['get', 'delete'], apiGroups: [''], resources: ['pods', 'pods/log']},
      {verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments/scale']},
    ];
    const refusal = await refusalOf(() => check('roles', role('ns', 'b', wanted)));
    expect(refusal.message).toBe(
      lacks(
        `roles.${group} "b"`,
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
        '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "delete"]}',
        '{APIGroups:["apps"], Resources:["deployments/scale"], Verbs:["update"]}',
      ),
    );
    expect(refusal.status.details).toEqual({name: 'b', group, kind: 'roles'});
  });

  test('names and URLs are compared one by one', async () => {
    const named = [{verbs: ['get', 'list'], apiGroups: ['', 'x'], resources: ['secrets'], resourceNames: ['s1', 's2']}];
    expect((await refusalOf(() => check('roles', role('ns', 'c', named)))).message).toBe(
      lacks(
        `roles.${group} "c"`,
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["s1"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["s2"], Verbs:["get" "list"]}',
        '{APIGroups:["x"], Resources:["secrets"], ResourceNames:["s1"], Verbs:["get" "list"]}',
        '{APIGroups:["x"], Resources:["secrets"], ResourceNames:["s2"], Verbs:["get" "list"]}',
      ),
    );
    const urls = [{verbs: ['get', 'post'], nonResourceURLs: ['/idw/x', '/o*']}];
    expect((await refusalOf(() => check('clusterroles', clusterRole('d', urls)))).message).toBe(
      lacks(
        `clusterroles.${group} "d"`,
        '{NonResourceURLs:["/idw/x"], Verbs:["post"]}',
        '{NonResourceURLs:["/o*"], Verbs:["get"]}',
        '{NonResourceURLs:["/o*"], Verbs:["post"]}',
      ),
    );
  });

  test('who may escalate a role may write anything into it', async () => {
    const free = role('ns', 'free', [{verbs: ['*'], apiGroups: ['*'], resources: ['*']}]);
    await check('roles', free, {old: free});
    // A POST names nothing, so a right by name does not reach it.
    expect((await refusalOf(() => check('roles', free))).status.code).toBe(403);
  });

  test('to gather takes everything', async () => {
    const gathers = clusterRole('g', [], {aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: 'b'}}]}});
    const refusal = await refusalOf(() => check('clusterroles', gathers));
    expect(refusal.message).toBe(`clusterroles.${group} "g" is forbidden: must have cluster-admin privileges to use the aggregationRule`);
    await check('clusterroles', gathers, {user: {name: 'root', groups: ['system:masters']}});
  });

  test('a binding hands out the rules of its role', async () => {
    const target = roleBinding('ns', 'a', 'Role', 'target', 'bob');
    expect((await refusalOf(() => check('rolebindings', target))).message).toBe(
      lacks(`rolebindings.${group} "a"`, '{APIGroups:[""], Resources:["configmaps"], Verbs:["*"]}'),
    );
    await check('rolebindings', roleBinding('ns', 'e', 'ClusterRole', 'everything', 'bob'));
    expect((await refusalOf(() => check('clusterrolebindings', clusterRoleBinding('e', 'everything', 'bob')))).message).toBe(
      lacks(`clusterrolebindings.${group} "e"`, '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}', '{NonResourceURLs:["*"], Verbs:["*"]}'),
    );
  });

  test('a role that is not there cannot be bound, only by those who may bind anything', async () => {
    const refusal = await refusalOf(() => check('rolebindings', roleBinding('ns', 'x', 'Role', 'nope', 'bob')));
    expect(refusal.message).toBe(`rolebindings.${group} "nope" not found`);
    await check('rolebindings', roleBinding('ns', 'x', 'Role', 'nope', 'bob'), {user: {name: 'root', groups: ['system:masters']}});
  });

  test('the garbage collector may edit owners and finalizers of roles beyond it', async () => {
    const old = role('ns', 'target', [{verbs: ['*'], apiGroups: [''], resources: ['configmaps']}]);
    await check('roles', {...old, metadata: {...old.metadata, finalizers: ['a.b/c']}}, {old});
    const labelled = {...old, metadata: {...old.metadata, labels: {a: 'b'}}};
    expect((await refusalOf(() => check('roles', labelled, {old}))).status.code).toBe(403);
  });
});
