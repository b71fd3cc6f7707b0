import {describe, expect, test} from 'vitest';
import {functions} from '../functions/functions.ts';
import {type Route, routes} from '../shared/http/routes.ts';
import {type Node, nodesOf, pathsOf, resourceTree} from './resource-tree.ts';

const tree = resourceTree(routes);

/** As API Gateway finds a method: a literal before a parameter, one segment for each, a greedy one for all that follows. */
function served(method: string, path: string): Route | undefined {
  let at: Node | undefined = tree;
  for (const part of path.split('/').filter(Boolean)) {
    if (at === undefined) return undefined;
    const children: Node[] = [...at.children.values()];
    at = at.children.get(part) ?? children.find((child) => child.part.startsWith('{'));
    if (at?.part.endsWith('+}')) break;
  }
  return at?.rows.get(method as Route['method']) ?? at?.rows.get('*');
}

describe('the route table as a tree of resources', () => {
  test.each([
    ['GET', '/', 'paths', 'discovery'],
    ['GET', '/api/v1', 'discovery', 'discovery'],
    ['GET', '/api/v1/pods', 'list', 'list'],
    ['GET', '/api/v1/namespaces', 'list', 'list'],
    ['POST', '/api/v1/namespaces', 'create', 'create'],
    ['GET', '/api/v1/namespaces/x', 'get', 'get'],
    ['DELETE', '/api/v1/namespaces/x', 'delete', 'delete'],
    ['PUT', '/api/v1/namespaces/x/finalize', 'updateSubresource', 'update'],
    ['PATCH', '/api/v1/namespaces/x/status', 'patchSubresource', 'patch'],
    ['GET', '/api/v1/namespaces/x/pods', 'list', 'list'],
    ['DELETE', '/api/v1/namespaces/x/pods', 'deletecollection', 'delete-collection'],
    ['PATCH', '/api/v1/namespaces/x/pods/y', 'patch', 'patch'],
    ['POST', '/api/v1/namespaces/x/pods/y/eviction', 'createSubresource', 'create'],
    ['GET', '/api/v1/namespaces/x/pods/y/log', 'connect', 'connect'],
    ['POST', '/api/v1/namespaces/x/pods/y/exec', 'connect', 'connect'],
    ['GET', '/api/v1/nodes/x/proxy/stats/summary', 'connect', 'connect'],
    ['GET', '/api/v1/watch/namespaces/x/pods/y', 'watchOne', 'list'],
    ['GET', '/api/v1/watch/namespaces', 'watch', 'list'],
    ['GET', '/apis/apps/v1/deployments', 'list', 'list'],
    ['PUT', '/apis/apps/v1/namespaces/x/deployments/y/scale', 'updateSubresource', 'update'],
    ['GET', '/apis/authorization.k8s.io', 'discovery', 'discovery'],
    ['GET', '/apis/authorization.k8s.io/v1', 'discovery', 'discovery'],
    ['POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', 'create', 'review'],
    ['POST', '/apis/authorization.k8s.io/v1/namespaces/x/localsubjectaccessreviews', 'create', 'review'],
    ['POST', '/apis/authentication.k8s.io/v1/tokenreviews', 'create', 'review'],
    ['GET', '/openapi/v3/apis/apps/v1', 'openapi', 'openapi'],
    ['GET', '/readyz/poststarthook/bootstrap', 'health', 'health'],
    ['HEAD', '/livez', 'health', 'health'],
    ['PUT', '/api/v1/pods', 'other', 'discovery'],
    ['OPTIONS', '/api/v1/namespaces/x/pods/y', 'other', 'discovery'],
    ['GET', '/apis/apps/v1/namespaces', 'other', 'discovery'],
    ['GET', '/api/v1/namespaces/x/pods/y/status/z', 'other', 'discovery'],
    ['GET', '/openapi', 'other', 'discovery'],
    ['GET', '/nothing/of/the/kind', 'other', 'discovery'],
  ])('%s %s is %s, served by %s', (method, path, verb, name) => {
    expect(served(method, path)).toMatchObject({verb, function: name});
  });

  test('no node leaves a method to the gateway', () => {
    for (const node of nodesOf(tree)) expect([...node.rows.keys()], node.path).toContain('*');
  });

  test('below every node, any path is served', () => {
    for (const {path} of nodesOf(tree)) if (!path.includes('+}')) expect(served('GET', `${path}/x/y/z/a/b/c`), path).toBeDefined();
  });

  test('every row is mounted, at each path that it stands for', () => {
    const nodes = new Map([...nodesOf(tree)].map((node) => [node.path, node]));
    for (const row of routes)
      for (const path of pathsOf(row.path)) expect(nodes.get(path === '/' ? '' : path)?.rows.get(row.method), path).toBe(row);
  });

  test('it stays far from the 300 resources of an API', () => {
    expect([...nodesOf(tree)].length).toBeLessThan(200);
  });

  test('every row names a function that requests come to', () => {
    for (const row of routes) expect(functions[row.function].trigger).toBe('rest');
  });

  test('two rows for one method at one place are an error, and so are two parameters beside each other', () => {
    const row = {verb: 'a', method: 'GET', path: '/x/{y}', function: 'get'} as const;
    expect(() => resourceTree([row, {...row, verb: 'b'}])).toThrow('two rows for GET /x/{y}');
    expect(() => resourceTree([row, {...row, path: '/x/{z}'}])).toThrow('/x has {y} already, so it cannot have {z}');
  });
});
