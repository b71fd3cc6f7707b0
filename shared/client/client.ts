/** What controllers and bootstrap ask of the API: typed calls that fail with a StatusError. In process, or over HTTP: the same. */
import type {KubeObject} from '../object.ts';

/** Where objects of a type live: `{groupVersion: 'apps/v1', resource: 'deployments'}`. */
export interface ResourcePath {
  groupVersion: string;
  resource: string;
  /** Absent for cluster-scoped types, and for lists over all namespaces. */
  namespace?: string | undefined;
}

export interface ListResult {
  metadata: {resourceVersion: string; continue?: string; remainingItemCount?: number};
  items: KubeObject[];
}

export interface Client {
  get(path: ResourcePath, name: string): Promise<KubeObject>;
  list(path: ResourcePath, query?: Record<string, string>): Promise<ListResult>;
  create(path: ResourcePath, object: object, query?: Record<string, string>): Promise<KubeObject>;
  update(path: ResourcePath, object: KubeObject, subresource?: string): Promise<KubeObject>;
  /** `contentType` e.g. application/merge-patch+json. */
  patch(path: ResourcePath, name: string, contentType: string, body: unknown, subresource?: string): Promise<KubeObject>;
  /** `options` is a DeleteOptions body: preconditions, propagationPolicy, gracePeriodSeconds. */
  delete(path: ResourcePath, name: string, options?: Record<string, unknown>): Promise<void>;
}
