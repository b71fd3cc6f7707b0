/** What controllers and bootstrap ask of the API: typed calls that fail with a StatusError. In process, or over HTTP: the same. */
import type {KubeObject} from '../object.ts';

/** Where objects of a type live: `{groupVersion: 'apps/v1', resource: 'deployments'}`. */
export interface ResourcePath {
  groupVersion: string;
  resource: string;
  /** Absent for cluster-scoped types, and for lists over all namespaces. */
  namespace?: string | undefined;
}

export interface ListResult<T extends KubeObject = KubeObject> {
  metadata: {resourceVersion: string; continue?: string; remainingItemCount?: number};
  items: T[];
}

/** How a set of fields is applied, and by whom. */
export interface ApplyOptions {
  fieldManager: string;
  /** Take fields from other managers. */
  force?: boolean;
  dryRun?: boolean;
  subresource?: string;
}

export interface Client {
  get<T extends KubeObject = KubeObject>(path: ResourcePath, name: string): Promise<T>;
  list<T extends KubeObject = KubeObject>(path: ResourcePath, query?: Record<string, string>): Promise<ListResult<T>>;
  create<T extends KubeObject = KubeObject>(path: ResourcePath, object: object, query?: Record<string, string>): Promise<T>;
  update<T extends KubeObject = KubeObject>(path: ResourcePath, object: T, subresource?: string): Promise<T>;
  /** `contentType` e.g. application/merge-patch+json. */
  patch<T extends KubeObject = KubeObject>(
    path: ResourcePath,
    name: string,
    contentType: string,
    body: unknown,
    subresource?: string,
  ): Promise<T>;
  /** Server-side apply of the fields of `object`, which names itself. */
  apply<T extends KubeObject = KubeObject>(path: ResourcePath, object: KubeObject, options: ApplyOptions): Promise<T>;
  /** `options` is a DeleteOptions body: preconditions, propagationPolicy, gracePeriodSeconds. */
  delete(path: ResourcePath, name: string, options?: Record<string, unknown>): Promise<void>;
}

/** JSON is YAML. */
export const applyPatch = 'application/apply-patch+yaml';

export const applyQuery = ({fieldManager, force, dryRun}: ApplyOptions): Record<string, string> => ({
  fieldManager,
  ...(force !== undefined && {force: String(force)}),
  ...(dryRun && {dryRun: 'All'}),
});
