/** Which handler serves which route of resources: a total map, and the table of subresources that have one of their own. */
import {genericError} from '../errors.ts';
import type {ApiResponse} from '../http/messages.ts';
import {connections, type RouteVerb} from '../http/routes.ts';
import {getComponentStatus, listComponentStatuses} from './component-status.ts';
import type {Handler, RequestContext} from './context.ts';
import {create} from './create.ts';
import {remove} from './delete.ts';
import {deleteCollection} from './delete-collection.ts';
import {get} from './get.ts';
import {list} from './list.ts';
import {patch} from './patch.ts';
import {bind} from './subresources/binding.ts';
import {connect} from './subresources/connect.ts';
import {evict} from './subresources/eviction.ts';
import {getScale, patchScale, updateScale} from './subresources/scale.ts';
import {update} from './update.ts';

type ResourceVerb = Exclude<RouteVerb, 'discovery' | 'openapi' | 'version' | 'paths' | 'health' | 'metrics' | 'issuer' | 'other'>;

const issueToken: Handler = (context) => context.machine.reviews.token(context);
const review: Handler = (context) => context.machine.reviews.review(context);

/** Subresources whose bodies are of another kind than their parent's, by verb. The others are the parent, seen by its strategy. */
const own: Record<string, Partial<Record<'get' | 'create' | 'update' | 'patch', Handler>>> = {
  scale: {get: getScale, update: updateScale, patch: patchScale},
  binding: {create: bind},
  eviction: {create: evict},
  token: {create: issueToken},
};

const subresource =
  (verb: 'get' | 'create' | 'update' | 'patch', parent: Handler | undefined): Handler =>
  (context) => {
    const handler = own[context.info.subresource]?.[verb] ?? parent;
    if (!handler) throw notAllowed();
    return handler(context);
  };

const createOrReview: Handler = (context) => {
  if (!context.resource.virtual) return create(context);
  return context.resource.resource === 'bindings' ? bind(context) : review(context);
};

const isComponentStatus = ({resource}: RequestContext): boolean => resource.storageType === 'componentstatuses';

const handlers: Record<ResourceVerb, Handler> = {
  create: createOrReview,
  list: (context) => (isComponentStatus(context) ? listComponentStatuses(context) : list(context)),
  watch: list,
  watchOne: list,
  deletecollection: deleteCollection,
  get: (context) => (isComponentStatus(context) ? getComponentStatus(context) : get(context)),
  update,
  patch,
  delete: remove,
  getSubresource: subresource('get', get),
  createSubresource: subresource('create', undefined),
  updateSubresource: subresource('update', update),
  patchSubresource: subresource('patch', patch),
  connect,
};

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

/** @throws StatusError 404 for a path that no route has, 405 for a method that its route does not */
export function handleResource(context: RequestContext): Promise<ApiResponse> {
  return handlers[verbOf(context)](context);
}

function verbOf({info, resource}: RequestContext): ResourceVerb {
  const {method, parts, namespace, subresource: sub} = info;
  const isCollection = parts.length === 1;
  if (resource.namespaced ? !isCollection && namespace === '' : namespace !== '' && resource.resource !== 'namespaces')
    throw notFoundPath();
  // It was authorized as what the path says, so it must not become what the method says.
  if (info.marker === 'proxy') throw notFoundPath();
  if (info.marker === 'watch') {
    if (parts.length > 2) throw notFoundPath();
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
    if (!verb || !resource.verbs.includes(verb)) throw resource.virtual ? notFoundPath() : notAllowed();
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

const connectVerbs = byMethod({GET: 'get', HEAD: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete'});

function connect_(method: string, verbs: readonly string[]): ResourceVerb {
  const verb = connectVerbs[method];
  if (!verb || !verbs.includes(verb)) throw notAllowed();
  return 'connect';
}
