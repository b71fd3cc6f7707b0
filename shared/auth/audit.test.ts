import {expect, test} from 'vitest';
import {AuditTrail, auditEvent, auditIdOf} from './audit.ts';
import {asks, userNamed} from './testing.ts';

test('a client names its request, at whatever length, or gets a name', () => {
  expect(auditIdOf({'audit-id': 'x'.repeat(500)})).toBe('x'.repeat(500));
  for (const headers of [{}, {'audit-id': ''}]) expect(auditIdOf(headers)).toMatch(/^[0-9a-f-]{36}$/);
});

test('an event tells who asked for what, and what was decided on the way', () => {
  const trail = new AuditTrail('id');
  trail.decided({decision: 'allow', reason: 'RBAC: so'});
  trail.annotate('authorization.k8s.io/reason', 'too late');
  const attributes = asks(userNamed('bob', 'g'), 'get', 'pods', {namespace: 'ns', name: 'p'});
  const request = {trail, attributes, requestURI: '/api/v1/namespaces/ns/pods/p', user: attributes.user, receivedAt: 1_000};
  expect(auditEvent(request, 'ResponseComplete', 'Metadata', 2_000, {code: 200})).toEqual({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: 'id',
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/ns/pods/p',
    verb: 'get',
    user: {username: 'bob', groups: ['g']},
    objectRef: {resource: 'pods', namespace: 'ns', name: 'p', apiVersion: 'v1'},
    responseStatus: {code: 200},
    requestReceivedTimestamp: '1970-01-01T00:00:01.000000Z',
    stageTimestamp: '1970-01-01T00:00:02.000000Z',
    annotations: {'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'RBAC: so'},
  });
});
