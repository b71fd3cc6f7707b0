/** Which verb a request for a resource means, and whether its resource has it. Which handler a verb has is ./handlers.ts, or a function's affair. */
import {genericError} from '../errors.ts';
import type {ApiResponse} from '../http/messages.ts';
import {connections, type RouteVerb} from '../http/routes.ts';
import type {Handler, RequestContext} from './context.ts';

export type ResourceVerb = Exclude<RouteVerb, 'discovery' | 'openapi' | 'version' | 'paths' | 'health' | 'metrics' | 'issuer' | 'other'>;

const isConnection: ReadonlySet<string> = new Set(connections);
/** Methods are what strangers say: without a prototype, `constructor` is none. */
const byMethod = <T>(verbs: Record<string, T>): Record<string, T> => Object.assign(Object.create(null), verbs);
const collectionVerbs = byMethod<ResourceVerb>({POST: 'create', GET: 'list', DELETE: 'deletecollection'});
const objectVerbs = byMethod<ResourceVerb>({GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete'});
const subresourceVerbs = byMethod<ResourceVerb>({
  GET: 'getSubresource',
  POST: 'createSubresource',
  PUT: 'updateSubresource',
  PATCH: 'patchSubresource',
});

export const notFoundPath = () => genericError(404, '', {group: '', resource: ''}, '');
export const notAllowed = () => genericError(405, '', {group: '', resource: ''}, '');

/** A server has them all, a function those of its rows. */
export type Handlers = Partial<Record<ResourceVerb, Handler>>;

/** @throws StatusError 404 for a path that no route has, 405 for a method that its route does not */
export function dispatch(handlers: Handlers, context: RequestContext): Promise<ApiResponse> {
  const verb = verbOf(context);
  const handler = handlers[verb];
  if (handler) return handler(context);
  // A spelling that no row has, such as a slash at the end: whoever mounted the rows sent it to where it is not known.
  context.machine.log.warn({verb, path: context.info.path}, 'not served by this function');
  throw notFoundPath();
}

function verbOf({info, resource}: RequestContext): ResourceVerb {
  const {method, parts, namespace, subresource: sub} = info;
  const isCollection = parts.length === 1;
  if (resource.namespaced ? !isCollection && namespace === '' : namespace !== '' && resource.resource !== 'namespaces')
    throw notFoundPath();
  // It was authorized as what the path says, so it must not become what the method says.
  if (info.marker === 'proxy') throw notFoundPath();
  if (info.marker === 'watch') {
    if (parts.length > 2 || !resource.verbs.includes('watch')) throw notFoundPath();
    if (method !== 'GET') throw notAllowed();
    return isCollection ? 'watch' : 'watchOne';
  }
  if (isCollection) {
    const verb = collectionVerbs[method];
    const served = verb && resource.verbs.includes(verb === 'list' ? 'list' : verb);
    // A POST must say in which namespace.
    if (
      !served ||
      (method === 'POST' && resource.namespaced && namespace === '') ||
      (method === 'DELETE' && resource.namespaced && namespace === '')
    )
      throw notAllowed();
    return verb;
  }
  if (parts.length === 2) {
    const verb = objectVerbs[method];
    if (!verb || !resource.verbs.includes(verb)) throw resource.verbs.includes('get') ? notAllowed() : notFoundPath();
    return verb;
  }
  const described = resource.subresources[sub];
  if (!described || (parts.length > 3 && sub !== 'proxy')) throw notFoundPath();
  if (isConnection.has(sub)) return connect_(method, described.verbs);
  const verb = subresourceVerbs[method];
  const needed = {getSubresource: 'get', createSubresource: 'create', updateSubresource: 'update', patchSubresource: 'patch'}[
    verb as string
  ];
  if (!verb || !needed || !described.verbs.includes(needed)) throw notAllowed();
  return verb;
}

const connectVerbs = byMethod({OPTIONS: 'get', GET: 'get', HEAD: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete'});

function connect_(method: string, verbs: readonly string[]): ResourceVerb {
  const verb = connectVerbs[method];
  if (!verb || !verbs.includes(verb)) throw notAllowed();
  return 'connect';
}
