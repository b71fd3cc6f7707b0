import {describe, expect, test} from 'vitest';
import {createAuthorizer} from '../../auth/authorize.ts';
import {RbacAuthorizer} from '../../auth/rbac/rbac-authorizer.ts';
import {RbacIndex} from '../../auth/rbac/rbac-index.ts';
import {TokenIssuer} from '../../auth/service-account/issuer.ts';
import {signingKey} from '../../auth/service-account/keys.ts';
import {clusterRole, clusterRoleBinding, refusalOf, roleBinding, userNamed} from '../../auth/testing.ts';
import {TokenAuthenticator} from '../../auth/tokens.ts';
import type {UserInfo} from '../../auth/user.ts';
import type {KubeObject, ObjectMeta} from '../../object.ts';
import {localSubjectAccessReview} from './local-subject-access-review.ts';
import type {Review, ReviewContext} from './review.ts';
import {selfSubjectAccessReview} from './self-subject-access-review.ts';
import {selfSubjectReview} from './self-subject-review.ts';
import {selfSubjectRulesReview} from './self-subject-rules-review.ts';
import {subjectAccessReview} from './subject-access-review.ts';
import {tokenRequest} from './token-request.ts';
import {tokenReview} from './token-review.ts';

const issuer = 'https://kubernetes.default.svc';
const now = Date.UTC(2026, 0, 1);
const bob: UserInfo = {name: 'bob', uid: 'b', groups: ['system:authenticated']};

const stored: Record<string, KubeObject> = {
  'serviceaccounts/ns/robot': {kind: 'ServiceAccount', apiVersion: 'v1', metadata: {name: 'robot', uid: 'u1'}},
  'pods/ns/p': {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {name: 'p', uid: 'u2'},
    spec: {serviceAccountName: 'robot', nodeName: 'n'},
  },
  'pods/ns/other': {kind: 'Pod', apiVersion: 'v1', metadata: {name: 'other', uid: 'u3'}, spec: {serviceAccountName: 'x'}},
  'secrets/ns/s': {kind: 'Secret', apiVersion: 'v1', metadata: {name: 's', uid: 'u4'}},
  'nodes//n': {kind: 'Node', apiVersion: 'v1', metadata: {name: 'n', uid: 'u5'}},
};

function context(more: Partial<ReviewContext> = {}): ReviewContext {
  const rbac = new RbacIndex();
  rbac.set(
    'ClusterRole',
    clusterRole('r', [
      {verbs: ['get'], apiGroups: [''], resources: ['pods']},
      {verbs: ['get'], nonResourceURLs: ['/healthz']},
    ]),
  );
  rbac.set('ClusterRoleBinding', clusterRoleBinding('b', 'r', 'bob'));
  rbac.set('RoleBinding', roleBinding('broken', 'c', 'Role', 'nope', 'bob'));
  return {
    authorizer: createAuthorizer({rbac: new RbacAuthorizer(rbac)}),
    rbac,
    tokens: new TokenAuthenticator({staticTokens: new Map([['tok', {...bob, groups: []}]]), audiences: [issuer]}),
    issuer: new TokenIssuer(issuer, signingKey()),
    user: bob,
    namespace: 'ns',
    name: '',
    now,
    dryRun: false,
    read: async (type, namespace, name) => stored[`${type}/${namespace}/${name}`],
    ...more,
  };
}

const post = (review: Review, spec: object, metadata: ObjectMeta = {}, more: Partial<ReviewContext> = {}) =>
  review(context(more), {kind: 'K', apiVersion: 'g/v1', metadata, spec: spec as never});

const refused = async (review: Review, spec: object, metadata: ObjectMeta = {}, more: Partial<ReviewContext> = {}) =>
  refusalOf(() => post(review, spec, metadata, more));

describe('access reviews', () => {
  const get = {verb: 'get', resource: 'pods'};

  test('answer with the reason', async () => {
    const reason = 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "bob"';
    expect((await post(subjectAccessReview, {user: 'bob', resourceAttributes: get}))['status']).toEqual({allowed: true, reason});
    expect((await post(selfSubjectAccessReview, {nonResourceAttributes: {path: '/healthz', verb: 'get'}}))['status']).toEqual({
      allowed: true,
      reason,
    });
    expect((await post(subjectAccessReview, {user: 'ann', resourceAttributes: get}))['status']).toEqual({allowed: false});
    expect((await post(subjectAccessReview, {groups: ['system:masters'], resourceAttributes: get}))['status']).toEqual({allowed: true});
  });

  test('take one question and one subject', async () => {
    const both = {resourceAttributes: get, nonResourceAttributes: {path: '/', verb: 'get'}};
    expect((await refused(selfSubjectAccessReview, both)).message).toBe(
      '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    );
    const neither = await refused(subjectAccessReview, {});
    expect(neither.message).toBe(
      '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
    );
    expect(Object.keys(neither.status.details!)).toEqual(['group', 'causes']);
  });

  test('have no metadata but what the server adds', async () => {
    const managedFields = [{manager: 'm'}];
    await post(selfSubjectAccessReview, {resourceAttributes: get}, {managedFields});
    const metadata = {labels: {a: 'b'}, name: 'x', managedFields};
    expect((await refused(selfSubjectAccessReview, {resourceAttributes: get}, metadata)).message).toBe(
      '.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"x","labels":{"a":"b"},"managedFields":[{"manager":"m"}]}: must be empty',
    );
  });

  test('of a namespace stay in it', async () => {
    const asked = (namespace?: string) => ({user: 'u', resourceAttributes: {...get, ...(namespace && {namespace})}});
    await post(localSubjectAccessReview, asked('ns'), {namespace: 'ns'});
    const words = (value: string) =>
      `.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "${value}": must match metadata.namespace`;
    expect((await refused(localSubjectAccessReview, asked('other'), {namespace: 'ns'})).message).toBe(words('other'));
    expect((await refused(localSubjectAccessReview, asked(), {namespace: 'ns'})).message).toBe(words(''));
    const path = {user: 'u', nonResourceAttributes: {path: '/', verb: 'get'}};
    expect((await refused(localSubjectAccessReview, path, {namespace: 'ns'})).message).toBe(
      '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of request',
    );
    expect((await refused(localSubjectAccessReview, asked('ns'), {namespace: 'ns', name: 'x'})).message).toContain(
      'must be empty except for namespace',
    );
  });

  test('judge the form of selectors', async () => {
    const selectors = {
      fieldSelector: {rawSelector: 'a=b', requirements: [{operator: 'Foo'}, {key: 'a', operator: 'In'}]},
      labelSelector: {
        requirements: [
          {key: '!!', operator: 'In'},
          {key: 'a', operator: 'Exists', values: ['x']},
        ],
      },
    };
    const {status} = await refused(subjectAccessReview, {user: 'u', resourceAttributes: {...get, ...selectors}});
    const causes = (status.details as {causes: {field: string; reason: string}[]}).causes;
    expect(causes.map(({field, reason}) => [field.replace('spec.resourceAttributes.', ''), reason])).toEqual([
      ['fieldSelector.rawSelector', 'FieldValueInvalid'],
      ['fieldSelector.requirements[0].key', 'FieldValueRequired'],
      ['fieldSelector.requirements[1].values', 'FieldValueRequired'],
      ['labelSelector.requirements[0].values', 'FieldValueRequired'],
      ['labelSelector.requirements[0].key', 'FieldValueInvalid'],
      ['labelSelector.requirements[1].values', 'FieldValueForbidden'],
    ]);
    const empty = {user: 'u', resourceAttributes: {...get, fieldSelector: {}}};
    expect((await refused(subjectAccessReview, empty)).message).toContain(
      'spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
    );
  });

  test('say when they do not understand a selector', async () => {
    const evaluationError = async (selectors: object) =>
      (await post(subjectAccessReview, {user: 'ann', resourceAttributes: {...get, ...selectors}}))['status'].evaluationError;
    expect(await evaluationError({fieldSelector: {rawSelector: 'spec.nodeName=n'}, labelSelector: {rawSelector: 'a in (b)'}})).toBe(
      undefined,
    );
    expect(await evaluationError({fieldSelector: {rawSelector: 'a=b,,c('}, labelSelector: {rawSelector: 'a=b,(('}})).toBe(
      'spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
    );
    const partly = {
      requirements: [
        {key: 'a', operator: 'Foo'},
        {key: 'b', operator: 'Exists'},
      ],
    };
    expect(await evaluationError({labelSelector: partly})).toBe(
      'spec.resourceAttributes.labelSelector partially ignored due to parse error',
    );
  });
});

describe('rules reviews', () => {
  test('list resources and paths apart', async () => {
    expect((await post(selfSubjectRulesReview, {namespace: 'ns'}))['status']).toEqual({
      resourceRules: [{verbs: ['get'], apiGroups: [''], resources: ['pods']}],
      nonResourceRules: [{verbs: ['get'], nonResourceURLs: ['/healthz']}],
      incomplete: false,
    });
    expect((await post(selfSubjectRulesReview, {namespace: 'ns'}, {}, {user: userNamed('x')}))['status']).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
    });
  });

  test('tell of roles that are not there', async () => {
    const {status} = await post(selfSubjectRulesReview, {namespace: 'broken'});
    expect(status.evaluationError).toBe('role.rbac.authorization.k8s.io "nope" not found');
  });

  test('need a namespace', async () => {
    expect(await refused(selfSubjectRulesReview, {})).toMatchObject({message: 'no namespace on request', status: {code: 400}});
  });
});

describe('who is it', () => {
  test('oneself, with whatever the credential told', async () => {
    const user: UserInfo = {name: 'a', groups: [], extra: {z: ['1'], b: ['2']}};
    const answer = await post(selfSubjectReview, {}, {name: 'dropped'}, {user});
    expect(answer.metadata).toEqual({creationTimestamp: '2026-01-01T00:00:00Z'});
    expect(JSON.stringify(answer['status'])).toBe('{"userInfo":{"username":"a","extra":{"b":["2"],"z":["1"]}}}');
  });

  test('whose token it is, or why it is nobody’s', async () => {
    expect((await post(tokenReview, {token: 'tok'}))['status']).toEqual({
      authenticated: true,
      user: {username: 'bob', uid: 'b', groups: ['system:authenticated']},
      audiences: [issuer],
    });
    const nobody = {user: {}, error: 'invalid bearer token'};
    expect((await post(tokenReview, {token: 'bogus'}))['status']).toEqual(nobody);
    expect((await post(tokenReview, {token: 'tok', audiences: ['x']}))['status']).toEqual(nobody);
    expect((await post(tokenReview, {token: 'tok', audiences: ['x', issuer]}))['status']).toMatchObject({audiences: [issuer]});
    expect((await refused(tokenReview, {})).message).toBe('token is required for TokenReview in authentication');
  });
});

describe('token requests', () => {
  const forRobot = {name: 'robot'};
  const claimsOf = (answer: KubeObject) => JSON.parse(Buffer.from(answer['status'].token.split('.')[1], 'base64url').toString());
  const words = async (spec: object, metadata: ObjectMeta = {}, more: Partial<ReviewContext> = forRobot) =>
    (await refused(tokenRequest, spec, metadata, more)).message;

  test('get a token for the API server unless they ask for another audience', async () => {
    const answer = await post(tokenRequest, {expirationSeconds: 600}, {}, forRobot);
    expect(answer.metadata).toMatchObject({name: 'robot', namespace: 'ns', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z'});
    expect(answer['spec']).toEqual({audiences: [issuer], expirationSeconds: 600, boundObjectRef: null});
    expect(answer['status'].expirationTimestamp).toBe('2026-01-01T00:10:00Z');
    expect(claimsOf(answer)).toMatchObject({aud: [issuer], exp: now / 1_000 + 600, sub: 'system:serviceaccount:ns:robot'});
    expect(claimsOf(await post(tokenRequest, {audiences: ['a', 'b']}, {}, forRobot)).aud).toEqual(['a', 'b']);
  });

  test('are bound to an object that is there', async () => {
    const bound = async (reference: object) =>
      claimsOf(await post(tokenRequest, {boundObjectRef: reference}, {}, forRobot))['kubernetes.io'];
    const pod = {apiVersion: 'v1', kind: 'Pod', name: 'p'};
    expect(await bound(pod)).toMatchObject({pod: {name: 'p', uid: 'u2'}, node: {name: 'n', uid: 'u5'}});
    expect(await bound({...pod, kind: 'Secret', name: 's', uid: 'u4'})).toMatchObject({secret: {name: 's', uid: 'u4'}});
    expect(await bound({...pod, kind: 'Node', name: 'n'})).toMatchObject({node: {name: 'n', uid: 'u5'}});
    const refuses = (reference: object) => words({boundObjectRef: reference});
    expect(await refuses({...pod, name: 'nope'})).toBe('pods "nope" not found');
    expect(await refuses({...pod, name: ''})).toBe('Name parameter required.');
    expect(await refuses({...pod, name: 'other'})).toBe(
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    );
    expect(await refuses({...pod, uid: 'bad'})).toBe(
      'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (bad) does not match the UID in record. The object might have been deleted and then recreated',
    );
    expect(await refuses({apiVersion: 'apps/v1', kind: 'Deployment', name: 'd'})).toBe(
      'cannot bind token to object of type apps/v1, Kind=Deployment',
    );
    expect(await refuses({})).toBe('cannot bind token to object of type /, Kind=');
  });

  test('of a kubelet for a pod outlive what was asked, and say from when that is odd', async () => {
    const boundObjectRef = {apiVersion: 'v1', kind: 'Pod', name: 'p'};
    const answer = await post(tokenRequest, {expirationSeconds: 3_607, boundObjectRef}, {}, forRobot);
    expect(answer['status'].expirationTimestamp).toBe('2026-01-01T01:00:07Z');
    expect(claimsOf(answer)).toMatchObject({
      exp: now / 1_000 + 31_536_000,
      'kubernetes.io': {warnafter: now / 1_000 + 3_607},
    });
    const elsewhere = await post(tokenRequest, {expirationSeconds: 3_607, boundObjectRef, audiences: ['x']}, {}, forRobot);
    expect(claimsOf(elsewhere).exp).toBe(now / 1_000 + 3_607);
  });

  test('name the account that they are posted to, or nobody', async () => {
    expect(await words({}, {name: 'x'})).toBe(
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
    );
    expect(await words({}, {uid: 'nope'})).toBe(
      'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request (nope) does not match the UID of the service account (u1)',
    );
    expect(await words({}, {}, {name: 'nope'})).toBe('serviceaccounts "nope" not found');
  });

  test('last between ten minutes and 2^32 seconds', async () => {
    const about = 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value';
    expect(await words({expirationSeconds: 30})).toBe(`${about}: 30: may not specify a duration less than 10 minutes`);
    expect(await words({expirationSeconds: 2 ** 33})).toBe(`${about}: 8589934592: may not specify a duration larger than 2^32 seconds`);
  });
});
