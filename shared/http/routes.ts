/**
 * Every route as a row. A row says which verb a method and a shape of path mean, which function serves it, and whether its answer may
 * be long. Adapters mount the rows; handlers are a total map over the verbs, so a forgotten one does not compile.
 *
 * `{scope}` stands for /api/{version} or /apis/{group}/{version}, with or without /namespaces/{namespace}.
 */

export interface Route {
  verb: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | '*';
  path: string;
  /** The function (on Lambda: of that name) that serves it. */
  function: string;
  streams?: boolean;
}

export const routes = [
  {verb: 'create', method: 'POST', path: '{scope}/{resource}', function: 'create'},
  {verb: 'list', method: 'GET', path: '{scope}/{resource}', function: 'list', streams: true},
  {verb: 'deletecollection', method: 'DELETE', path: '{scope}/{resource}', function: 'delete-collection', streams: true},
  {verb: 'get', method: 'GET', path: '{scope}/{resource}/{name}', function: 'get'},
  {verb: 'update', method: 'PUT', path: '{scope}/{resource}/{name}', function: 'update'},
  {verb: 'patch', method: 'PATCH', path: '{scope}/{resource}/{name}', function: 'patch'},
  {verb: 'delete', method: 'DELETE', path: '{scope}/{resource}/{name}', function: 'delete'},
  {verb: 'watch', method: 'GET', path: '{scope}/watch/{resource}', function: 'list', streams: true},
  {verb: 'watchOne', method: 'GET', path: '{scope}/watch/{resource}/{name}', function: 'list', streams: true},
  {verb: 'getSubresource', method: 'GET', path: '{scope}/{resource}/{name}/{subresource}', function: 'get'},
  {verb: 'createSubresource', method: 'POST', path: '{scope}/{resource}/{name}/{subresource}', function: 'create'},
  {verb: 'updateSubresource', method: 'PUT', path: '{scope}/{resource}/{name}/{subresource}', function: 'update'},
  {verb: 'patchSubresource', method: 'PATCH', path: '{scope}/{resource}/{name}/{subresource}', function: 'patch'},
  {verb: 'connect', method: '*', path: '{scope}/{resource}/{name}/{connection}', function: 'connect', streams: true},
  {verb: 'discovery', method: 'GET', path: '/api', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/api/{version}', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/apis', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/apis/{group}', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/apis/{group}/{version}', function: 'discovery'},
  {verb: 'openapi', method: 'GET', path: '/openapi/v2', function: 'openapi', streams: true},
  {verb: 'openapi', method: 'GET', path: '/openapi/v3', function: 'openapi'},
  {verb: 'openapi', method: 'GET', path: '/openapi/v3/{document}', function: 'openapi', streams: true},
  {verb: 'version', method: 'GET', path: '/version', function: 'discovery'},
  {verb: 'paths', method: 'GET', path: '/', function: 'discovery'},
  {verb: 'health', method: '*', path: '/healthz/{check}', function: 'health'},
  {verb: 'health', method: '*', path: '/livez/{check}', function: 'health'},
  {verb: 'health', method: '*', path: '/readyz/{check}', function: 'health'},
  {verb: 'metrics', method: 'GET', path: '/metrics', function: 'metrics'},
  {verb: 'issuer', method: 'GET', path: '/.well-known/openid-configuration', function: 'discovery'},
  {verb: 'issuer', method: 'GET', path: '/openid/v1/jwks', function: 'discovery'},
] as const satisfies readonly Route[];

export type RouteVerb = (typeof routes)[number]['verb'];
