/** An object as what ties it to others: its owners, its finalizers, whether it is on its way out. */
import type {KubeObject, OwnerReference} from '../../object.ts';
import type {Resource} from '../../registry/resource.ts';

export interface Tied {
  uid: string;
  /** Storage type. */
  type: string;
  name: string;
  namespace: string | undefined;
  owners: readonly OwnerReference[];
  deleting: boolean;
  finalizers: readonly string[];
  /** Where it has just been read: what is decided now is done at exactly this version. */
  resourceVersion?: string;
}

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** Types whose objects come and go quickly and are nobody's dependents. Leases are: a node's goes with the node. */
const ignoredTypes = new Set(['events', 'servicenodeports.internal']);

export const isCollected = ({storageType, verbs}: Resource): boolean => !ignoredTypes.has(storageType) && verbs.includes('delete');

export function tiedOf(type: string, {metadata}: Pick<KubeObject, 'metadata'>): Tied {
  const {uid = '', name = '', namespace, ownerReferences = [], finalizers = [], deletionTimestamp, resourceVersion} = metadata;
  return {
    uid,
    type,
    name,
    namespace,
    owners: ownerReferences,
    deleting: deletionTimestamp !== undefined,
    finalizers,
    ...(resourceVersion !== undefined && {resourceVersion}),
  };
}

/** How a store names it within its type. */
export const keyOf = ({name, namespace}: Pick<Tied, 'name' | 'namespace'>): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

export function parseKey(key: string): {name: string; namespace: string | undefined} {
  const slash = key.indexOf('/');
  return {name: key.slice(slash + 1), namespace: slash < 0 ? undefined : key.slice(0, slash)};
}

export const references = ({owners}: Tied, uid: string): boolean => owners.some((owner) => owner.uid === uid);
