/**
 * Every route as a row. A row says which verb a method and a shape of path mean, which function serves it, and whether its answer may
 * be long. Adapters mount the rows; handlers are a total map over the verbs, so a forgotten one does not compile.
 *
 * `{scope}` stands for /api/{version} or /apis/{group}/{version}, with or without /namespaces/{namespace}; `{connection}` for the names in
 * `connections`, other subresources have another handler; `{x+}` for one segment or more. A literal wins over a parameter.
 */

export interface Route {
  verb: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | '*';
  path: string;
  /** The function (on Lambda: of that name) that serves it. */
  function: string;
  streams?: boolean;
}

/** Subresources that are a way to something else than an object: bytes come and go as they please. */
export const connections = ['log', 'exec', 'attach', 'portforward', 'proxy'] as const;

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
  // Pods, services and nodes have them, all in the core group; of what has no namespace, nodes a proxy.
  {
    verb: 'connect',
    method: '*',
    path: '/api/{version}/namespaces/{namespace}/{resource}/{name}/{connection}',
    function: 'connect',
    streams: true,
  },
  {
    verb: 'connect',
    method: '*',
    path: '/api/{version}/namespaces/{namespace}/{resource}/{name}/proxy/{path+}',
    function: 'connect',
    streams: true,
  },
  {verb: 'connect', method: '*', path: '/api/{version}/{resource}/{name}/proxy', function: 'connect', streams: true},
  {verb: 'connect', method: '*', path: '/api/{version}/{resource}/{name}/proxy/{path+}', function: 'connect', streams: true},
  // Figures that the nodes' agents are asked for.
  {verb: 'list', method: 'GET', path: '/apis/metrics.k8s.io/{version}/{resource}', function: 'connect', streams: true},
  {verb: 'get', method: 'GET', path: '/apis/metrics.k8s.io/{version}/{resource}/{name}', function: 'connect', streams: true},
  {
    verb: 'list',
    method: 'GET',
    path: '/apis/metrics.k8s.io/{version}/namespaces/{namespace}/{resource}',
    function: 'connect',
    streams: true,
  },
  {
    verb: 'get',
    method: 'GET',
    path: '/apis/metrics.k8s.io/{version}/namespaces/{namespace}/{resource}/{name}',
    function: 'connect',
    streams: true,
  },
  // Kinds that are asked, not kept.
  {verb: 'create', method: 'POST', path: '/apis/authentication.k8s.io/{version}/{resource}', function: 'review'},
  {verb: 'create', method: 'POST', path: '/apis/authorization.k8s.io/{version}/{resource}', function: 'review'},
  {verb: 'create', method: 'POST', path: '/apis/authorization.k8s.io/{version}/namespaces/{namespace}/{resource}', function: 'review'},
  {verb: 'discovery', method: 'GET', path: '/api', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/api/{version}', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/apis', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/apis/{group}', function: 'discovery'},
  {verb: 'discovery', method: 'GET', path: '/apis/{group}/{version}', function: 'discovery'},
  {verb: 'openapi', method: 'GET', path: '/openapi/v2', function: 'openapi', streams: true},
  {verb: 'openapi', method: 'GET', path: '/openapi/v3', function: 'openapi'},
  {verb: 'openapi', method: 'GET', path: '/openapi/v3/{document+}', function: 'openapi', streams: true},
  {verb: 'version', method: 'GET', path: '/version', function: 'discovery'},
  {verb: 'paths', method: 'GET', path: '/', function: 'discovery'},
  {verb: 'health', method: '*', path: '/healthz', function: 'health'},
  {verb: 'health', method: '*', path: '/healthz/{check+}', function: 'health'},
  {verb: 'health', method: '*', path: '/livez', function: 'health'},
  {verb: 'health', method: '*', path: '/livez/{check+}', function: 'health'},
  {verb: 'health', method: '*', path: '/readyz', function: 'health'},
  {verb: 'health', method: '*', path: '/readyz/{check+}', function: 'health'},
  {verb: 'metrics', method: 'GET', path: '/metrics', function: 'metrics'},
  {verb: 'metrics', method: 'GET', path: '/metrics/slis', function: 'metrics'},
  {verb: 'issuer', method: 'GET', path: '/.well-known/openid-configuration', function: 'discovery'},
  {verb: 'issuer', method: 'GET', path: '/openid/v1/jwks', function: 'discovery'},
  // Whatever no row has: 404 and 405 as a Status, where a gateway would say something of its own.
  {verb: 'other', method: '*', path: '/{path+}', function: 'discovery'},
] as const satisfies readonly Route[];

export type RouteVerb = (typeof routes)[number]['verb'];
