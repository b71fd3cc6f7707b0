/** What a handler works with: the assembled machine, and one request on its way through it. */
import type {Lookups} from '../admission/lookups.ts';
import type {Log} from '../api.ts';
import type {RbacIndex} from '../auth/rbac/rbac-index.ts';
import type {Authorizer, UserInfo} from '../auth/user.ts';
import type {Collections} from '../changes/collection.ts';
import type {Hubs} from '../changes/hub.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Clock} from '../clock.ts';
import type {Subject} from '../errors.ts';
import type {ApiRequest, ApiResponse} from '../http/messages.ts';
import type {Metrics} from '../http/metrics.ts';
import type {RequestInfo} from '../http/request-info.ts';
import type {NodeLiveness} from '../nodes/liveness.ts';
import type {NodeRoads} from '../nodes/roads.ts';
import type {Store} from '../storage/contract.ts';
import type {ServiceAllocator} from './allocators/service.ts';
import type {Catalogue} from './catalogue.ts';
import type {Creators} from './creators.ts';
import type {Quotas} from './quotas.ts';
import type {Resource} from './resource.ts';

export interface Machine {
  store: Store;
  clock: Clock;
  log: Log;
  catalogue: Catalogue;
  hubs: Hubs;
  collections: Collections;
  caches: ObjectCaches;
  authorizer: Authorizer;
  rbac: RbacIndex;
  lookups: Lookups;
  allocator: ServiceAllocator;
  /** Virtual types: answered, never stored. */
  reviews: {review: Handler; token: Handler};
  creators: Creators;
  quotas: Quotas;
  metrics: Metrics;
  /** Where bytes come from that no store has. */
  nodes: NodeRoads | undefined;
  /** Absent where nodes renew their Leases. */
  nodeLiveness?: NodeLiveness;
  continueTokenTtlMs: number;
  /** Aborts when watches are to end because the server goes. */
  drain: AbortSignal;
}

export interface RequestContext {
  machine: Machine;
  request: ApiRequest;
  info: RequestInfo;
  user: UserInfo;
  resource: Resource;
  /** Texts for Warning headers. */
  warnings: string[];
}

export type Handler = (context: RequestContext) => Promise<ApiResponse>;

/** What errors about the request's objects name. */
export const subjectOf = ({group, resource}: Resource): Subject => ({
  group,
  // The one resource whose errors name it otherwise than its path does.
  resource: resource === 'componentstatuses' ? 'componentstatus' : resource,
});

/** Where the store keeps an object of the request's namespace. */
export const keyOf = (context: {resource: Resource; info: {namespace: string}}, name: string): string =>
  context.resource.namespaced ? `${context.info.namespace}/${name}` : name;

/** Store keys that a list of the request covers. */
export const prefixOf = (context: {resource: Resource; info: {namespace: string}}): string =>
  context.resource.namespaced && context.info.namespace ? `${context.info.namespace}/` : '';
