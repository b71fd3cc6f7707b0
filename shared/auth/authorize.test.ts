import {describe, expect, test} from 'vitest';
import {authorizerChain, createAuthorizer, requireAllowed} from './authorize.ts';
import {forbiddenMessage} from './forbidden.ts';
import {asks, asksPath, refusalOf, userNamed} from './testing.ts';
import type {Authorizer, Decision} from './user.ts';

const bob = userNamed('bob');
const says = (decision: Decision['decision'], reason?: string): Authorizer => ({
  authorize: () => ({decision, ...(reason && {reason})}),
});
const saysLater = (decision: Decision['decision'], reason?: string): Authorizer => ({
  authorize: async () => ({decision, ...(reason && {reason})}),
});
const question = asks(bob, 'list', 'pods', {namespace: 'default'});

describe('the chain', () => {
  test('goes with the first opinion', async () => {
    expect(authorizerChain([says('no opinion', 'x'), says('allow', 'y'), says('deny')]).authorize(question)).toEqual({
      decision: 'allow',
      reason: 'y',
    });
    expect(await authorizerChain([saysLater('no opinion'), says('deny', 'z')]).authorize(question)).toEqual({
      decision: 'deny',
      reason: 'z',
    });
  });

  test('without an opinion tells all reasons', async () => {
    const reasons = {decision: 'no opinion', reason: 'a\nb'};
    expect(authorizerChain([says('no opinion', 'a'), says('no opinion', 'b')]).authorize(question)).toEqual(reasons);
    expect(await authorizerChain([saysLater('no opinion', 'a'), saysLater('no opinion', 'b')]).authorize(question)).toEqual(reasons);
  });

  test('stays synchronous while its authorizers do', () => {
    expect(createAuthorizer({rbac: says('allow')}).authorize(question)).not.toBeInstanceOf(Promise);
  });

  test('lets masters through whatever the others say', () => {
    const chain = createAuthorizer({node: says('deny'), rbac: says('deny')});
    expect(chain.authorize({...question, user: userNamed('root', 'system:masters')})).toEqual({decision: 'allow'});
    expect(chain.authorize(question)).toEqual({decision: 'deny'});
  });

  test('what is not allowed is forbidden', async () => {
    expect((await refusalOf(() => requireAllowed(saysLater('no opinion', 'because'), question))).message).toBe(
      'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default": because',
    );
  });
});

describe('the words of the reference', () => {
  const scale = {namespace: 'default', apiGroup: 'apps', name: 'd', subresource: 'scale'};
  test.each([
    [
      asks(bob, 'list', 'nodes'),
      'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope',
      {kind: 'nodes'},
    ],
    [
      asks(bob, 'get', 'deployments', scale),
      'deployments.apps "d" is forbidden: User "bob" cannot get resource "deployments/scale" in API group "apps" in the namespace "default"',
      {name: 'd', group: 'apps', kind: 'deployments'},
    ],
    [
      asks(bob, 'get', 'nodes', {name: 'n<&>"x'}),
      'nodes "n<&>\\"x" is forbidden: User "bob" cannot get resource "nodes" in API group "" at the cluster scope',
      {name: 'n<&>"x', kind: 'nodes'},
    ],
    [asksPath(bob, 'post', '/logs/<x>'), 'forbidden: User "bob" cannot post path "/logs/&lt;x&gt;"', {}],
  ])('%#', (attributes, message, details) => {
    const error = forbiddenMessage(attributes);
    expect(error.message).toBe(message);
    expect(error.status).toMatchObject({code: 403, reason: 'Forbidden'});
    expect(error.status.details).toEqual(details);
    expect(error.headers).toEqual({'x-content-type-options': 'nosniff'});
  });
});
