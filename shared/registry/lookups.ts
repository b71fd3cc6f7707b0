/** What admission asks about other objects, answered from the caches that the change feed keeps. */
import type {Lookups} from '../admission/lookups.ts';
import type {Authorizer} from '../auth/user.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {KubeObject} from '../object.ts';

export function cachedLookups(caches: ObjectCaches, authorizer: Authorizer): Lookups {
  const one = async (type: string, key: string): Promise<KubeObject | undefined> => (await caches.of(type)).get(key);
  const all = async (type: string): Promise<readonly KubeObject[]> => [...(await caches.of(type)).values()];
  return {
    namespace: (name) => one('namespaces', name),
    serviceAccount: (namespace, name) => one('serviceaccounts', `${namespace}/${name}`),
    limitRanges: async (namespace) => (await all('limitranges')).filter((object) => object.metadata.namespace === namespace),
    priorityClasses: () => all('priorityclasses.scheduling.k8s.io'),
    storageClasses: () => all('storageclasses.storage.k8s.io'),
    ingressClasses: () => all('ingressclasses.networking.k8s.io'),
    runtimeClass: (name) => one('runtimeclasses.node.k8s.io', name),
    node: (name) => one('nodes', name),
    allowed: async (attributes) => (await authorizer.authorize(attributes)).decision === 'allow',
  };
}
