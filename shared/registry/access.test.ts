/** Who may do what, from the token to the answer: authentication, impersonation and RBAC as one. */
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';
import {ManualClock} from '../clock.ts';
import {createApi} from '../create-api.ts';
import {openMemory} from '../storage/embedded/open.ts';

let api: TestApi;
beforeAll(async () => {
  const clock = new ManualClock();
  const staticTokens = new Map([
    ['root', {name: 'root', groups: ['system:masters']}],
    ['bob', {name: 'bob', groups: ['devs']}],
    ['hal', {name: 'hal', groups: []}],
  ]);
  const own = createApi({store: await openMemory({clock}), clock, staticTokens});
  await own.start();
  api = new TestApi(own, clock);
});
afterAll(() => api.close());

const as = (token: string, method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.ask(method, url, body, {...(token && {authorization: `Bearer ${token}`}), ...headers});
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const allow = async (name: string, rules: object[], subjects: object[]) => {
  expect((await as('root', 'POST', `${rbac}/namespaces/default/roles`, {metadata: {name}, rules})).code).toBe(201);
  const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name};
  expect((await as('root', 'POST', `${rbac}/namespaces/default/rolebindings`, {metadata: {name}, roleRef, subjects})).code).toBe(201);
};
const user = (name: string) => ({kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name});

describe('who asks', () => {
  test('nobody in particular is anonymous, a token that is nobody’s is refused', async () => {
    expect((await as('', 'GET', '/version')).code).toBe(200);
    const {body} = await as('', 'GET', configMaps);
    expect(body).toMatchObject({
      code: 403,
      message:
        'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
    });
    for (const token of ['nope', 'a.b.c', 'x'.repeat(20_000)])
      expect((await as(token, 'GET', '/version')).body).toMatchObject({code: 401, reason: 'Unauthorized'});
  });

  test('a service account, by the token that it was given, until it is deleted', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await as('root', 'POST', accounts, {metadata: {name: 'robot'}});
    const {body} = await as('root', 'POST', `${accounts}/robot/token`, {spec: {expirationSeconds: 600}});
    const {token} = body.status;
    const who = () => as(token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    expect((await who()).body.status.userInfo.username).toBe('system:serviceaccount:default:robot');
    await as('root', 'DELETE', `${accounts}/robot`);
    expect((await who()).code).toBe(401);
  });

  test('a token ends', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await as('root', 'POST', accounts, {metadata: {name: 'brief'}});
    const {body} = await as('root', 'POST', `${accounts}/brief/token`, {spec: {expirationSeconds: 600}});
    expect((await as(body.status.token, 'GET', '/version')).code).toBe(200);
    // The reference gives a minute for clocks that disagree.
    api.clock.advance(661_000);
    expect((await as(body.status.token, 'GET', '/version')).code).toBe(401);
  });
});

describe('what is allowed', () => {
  test('is what a role says, from the moment that it is bound to the moment that it is not', async () => {
    expect((await as('bob', 'POST', configMaps, configMap('mine'))).code).toBe(403);
    await allow('writer', [{apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get']}], [user('bob')]);
    expect((await as('bob', 'POST', configMaps, configMap('mine'))).code).toBe(201);
    expect((await as('bob', 'GET', `${configMaps}/mine`)).code).toBe(200);
    expect((await as('bob', 'DELETE', `${configMaps}/mine`)).body).toMatchObject({
      code: 403,
      message: 'configmaps "mine" is forbidden: User "bob" cannot delete resource "configmaps" in API group "" in the namespace "default"',
      details: {name: 'mine', kind: 'configmaps'},
    });
    expect((await as('bob', 'POST', '/api/v1/namespaces/kube-public/configmaps', configMap('mine'))).code).toBe(403);
    await as('root', 'DELETE', `${rbac}/namespaces/default/rolebindings/writer`);
    expect((await as('bob', 'GET', `${configMaps}/mine`)).code).toBe(403);
  });

  test('by name, by group, by subresource', async () => {
    await as('root', 'POST', configMaps, configMap('named'));
    await allow(
      'named',
      [{apiGroups: [''], resources: ['configmaps'], resourceNames: ['named'], verbs: ['get', 'list', 'watch']}],
      [{kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'devs'}],
    );
    expect((await as('bob', 'GET', `${configMaps}/named`)).code).toBe(200);
    expect((await as('bob', 'GET', `${configMaps}/mine`)).code).toBe(403);
    expect((await as('bob', 'GET', configMaps)).code).toBe(403);
    expect((await as('bob', 'GET', `${configMaps}?fieldSelector=metadata.name%3Dnamed`)).code).toBe(200);
    await allow('scaler', [{apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get']}], [user('hal')]);
    expect((await as('hal', 'GET', '/apis/apps/v1/namespaces/default/deployments/d/scale')).code).toBe(404);
    expect((await as('hal', 'GET', '/apis/apps/v1/namespaces/default/deployments/d')).code).toBe(403);
  });

  test('nobody hands out more than he has', async () => {
    await allow(
      'granter',
      [
        {apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['*']},
        {apiGroups: [''], resources: ['pods'], verbs: ['get']},
      ],
      [user('hal')],
    );
    const roles = `${rbac}/namespaces/default/roles`;
    const held = [{apiGroups: [''], resources: ['pods'], verbs: ['get']}];
    // `*` on roles includes escalate and bind: take these away.
    await as(
      'root',
      'PATCH',
      `${roles}/granter`,
      {
        rules: [
          {apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['create', 'get', 'update']},
          ...held,
        ],
      },
      {'content-type': 'application/merge-patch+json'},
    );
    expect((await as('hal', 'POST', roles, {metadata: {name: 'same'}, rules: held})).code).toBe(201);
    const more = await as('hal', 'POST', roles, {
      metadata: {name: 'more'},
      rules: [{apiGroups: [''], resources: ['secrets'], verbs: ['get']}],
    });
    expect(more.body).toMatchObject({
      code: 403,
      message: expect.stringContaining('is attempting to grant RBAC permissions not currently held'),
    });
    const roleRef = {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin'};
    expect(
      (await as('hal', 'POST', `${rbac}/namespaces/default/rolebindings`, {metadata: {name: 'up'}, roleRef, subjects: [user('hal')]})).code,
    ).toBe(403);
    expect((await as('root', 'GET', `${roles}/more`)).code).toBe(404);
  });

  test('what is forbidden says nothing about what is there', async () => {
    const there = await as('hal', 'GET', '/api/v1/namespaces/default/secrets/x');
    await as('root', 'POST', '/api/v1/namespaces/default/secrets', {metadata: {name: 'x'}});
    expect((await as('hal', 'GET', '/api/v1/namespaces/default/secrets/x')).body).toEqual(there.body);
    expect((await as('hal', 'POST', '/api/v1/namespaces/default/secrets', '{not even json')).code).toBe(403);
  });
});

describe('in the name of another', () => {
  const who = (token: string, headers: Record<string, string>) =>
    as(token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, headers);

  test('whoever may impersonate has the rights of the other, not his own', async () => {
    const {body} = await who('root', {'impersonate-user': 'eve', 'impersonate-group': 'g1', 'impersonate-extra-scopes': 'view'});
    expect(body.status.userInfo).toMatchObject({username: 'eve', groups: ['g1', 'system:authenticated'], extra: {scopes: ['view']}});
    expect((await as('root', 'GET', '/api/v1/nodes', undefined, {'impersonate-user': 'eve'})).body.message).toContain(
      'User "eve" cannot list resource "nodes"',
    );
    expect(
      (await as('root', 'GET', '/api/v1/nodes', undefined, {'impersonate-user': 'eve', 'impersonate-group': 'system:masters'})).code,
    ).toBe(200);
    expect((await who('root', {'impersonate-user': 'system:serviceaccount:default:robot'})).body.status.userInfo.groups).toContain(
      'system:serviceaccounts:default',
    );
  });

  test('whoever may not is told so', async () => {
    const {body} = await who('bob', {'impersonate-user': 'root'});
    expect(body).toMatchObject({
      code: 403,
      message:
        'selfsubjectreviews.authentication.k8s.io is forbidden: User "bob" cannot impersonate-on:user-info:create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
    });
    expect((await who('', {'impersonate-user': 'root'})).code).toBe(403);
  });

  test('a group or extra without a user is no request', async () => {
    const lone: Record<string, string>[] = [
      {'impersonate-group': 'system:masters'},
      {'impersonate-uid': 'u'},
      {'impersonate-extra-a': 'b'},
    ];
    for (const headers of lone) {
      const {body} = await who('root', headers);
      expect([body.code, body.message.endsWith('without impersonating a user name')]).toEqual([400, true]);
    }
  });
});

test('a warning is one header for each text', async () => {
  const {headers} = await as('root', 'POST', configMaps, '{"metadata":{"name":"warned"},"dtaa":{},"spec":{"a":1}}');
  expect(headers['warning']).toEqual(['299 - "unknown field \\"dtaa\\""', '299 - "unknown field \\"spec\\""']);
});
