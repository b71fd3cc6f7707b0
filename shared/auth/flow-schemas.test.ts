import {describe, expect, test} from 'vitest';
import {desiredStages} from '../controllers/bootstrap/desired.ts';
import {type FlowKind, FlowSchemas} from './flow-schemas.ts';
import {asks, asksPath, userNamed} from './testing.ts';

function bootstrapped(): FlowSchemas {
  const schemas = new FlowSchemas();
  for (const {object} of desiredStages({}, 0).flat())
    if (object.kind === 'FlowSchema' || object.kind === 'PriorityLevelConfiguration')
      schemas.set(object.kind as FlowKind, {...object, metadata: {...object.metadata, uid: object.metadata.name!}});
  return schemas;
}

describe('flow schemas', () => {
  const schemas = bootstrapped();
  const everyone = 'system:authenticated';
  const node = userNamed('system:node:n', 'system:nodes', everyone);
  const scheduler = userNamed('system:kube-scheduler', everyone);
  const deployments = userNamed('system:serviceaccount:kube-system:deployment-controller', 'system:serviceaccounts', everyone);
  const lease = {apiGroup: 'coordination.k8s.io', namespace: 'kube-system'};

  test.each([
    ['an administrator', asks(userNamed('a', 'system:masters', everyone), 'list', 'pods'), 'exempt', 'exempt'],
    ['a person', asks(userNamed('bob', everyone), 'list', 'pods'), 'global-default', 'global-default'],
    ['a probe of anybody', asksPath(userNamed('x', 'system:unauthenticated'), 'get', '/livez/ping'), 'probes', 'exempt'],
    ['nobody in particular', asks(userNamed('x', 'system:unauthenticated'), 'list', 'pods'), 'global-default', 'global-default'],
    ['a node about its lease', asks(node, 'update', 'leases', {...lease, namespace: 'kube-node-lease'}), 'system-node-high', 'node-high'],
    ['a node about its pods', asks(node, 'list', 'pods'), 'system-nodes', 'system'],
    ['the scheduler about its lease', asks(scheduler, 'get', 'leases', lease), 'system-leader-election', 'leader-election'],
    ['the scheduler', asks(scheduler, 'list', 'pods'), 'kube-scheduler', 'workload-high'],
    ['a controller of the system', asks(deployments, 'list', 'pods'), 'kube-system-service-accounts', 'workload-high'],
    [
      'any service account',
      asks(userNamed('system:serviceaccount:ns:x', 'system:serviceaccounts', everyone), 'list', 'pods'),
      'service-accounts',
      'workload-low',
    ],
  ])('%s', (_who, attributes, flowSchemaUid, priorityLevelUid) => {
    expect(schemas.match(attributes)).toEqual({flowSchemaUid, priorityLevelUid});
  });

  test('a schema that comes or goes counts from the next request', () => {
    const own = bootstrapped();
    const question = asks(userNamed('bob', everyone), 'list', 'pods');
    expect(own.match(question)?.flowSchemaUid).toBe('global-default');
    own.delete('FlowSchema', 'global-default');
    expect(own.match(question)?.flowSchemaUid).toBe('catch-all');
    own.delete('FlowSchema', 'catch-all');
    expect(own.match(question)).toBeUndefined();
  });
});
