import {expect, test} from 'vitest';
import type {Integration} from './deployed.ts';
import {ResourceTree} from './resource-tree.ts';

const GET = {functionName: 'f', streams: false, timeoutMs: 29_000};
const withMethods = (path: string): Record<string, Integration> => (path === '/api/v1' ? {} : {GET});
const tree = new ResourceTree(
  [
    '/',
    '/api',
    '/api/v1',
    '/api/v1/{resource}',
    '/api/v1/{resource}/{name}',
    '/api/v1/namespaces/{name}',
    '/api/v1/nodes/{name}/proxy/{path+}',
    '/{path+}',
  ].map((path) => ({id: path, path, methods: withMethods(path)})),
);
const found = (path: string): [string, object] | undefined => {
  const match = tree.match(path);
  return match && [match.resource.path, match.parameters];
};

test.each([
  ['/', '/', {}],
  ['/api', '/api', {}],
  ['/api/', '/api', {}],
  ['/api/v1/pods', '/api/v1/{resource}', {resource: 'pods'}],
  ['/api/v1/namespaces/a%2Fb', '/api/v1/namespaces/{name}', {name: 'a%2Fb'}],
  ['/api/v1/nodes/n/proxy/a//b', '/api/v1/nodes/{name}/proxy/{path+}', {name: 'n', path: 'a//b'}],
  // What is no resource with a method falls to the greedy one.
  ['/api/v1', '/{path+}', {path: 'api/v1'}],
  ['/api/v1/pods/a/log', '/{path+}', {path: 'api/v1/pods/a/log'}],
  ['/other', '/{path+}', {path: 'other'}],
])('%s is served by %s', (path, resource, parameters) => {
  expect(found(path)).toEqual([resource, parameters]);
});

test('without a greedy resource a path may belong to none', () => {
  expect(new ResourceTree([{id: 'a', path: '/a', methods: {GET}}]).match('/b')).toBeUndefined();
});
