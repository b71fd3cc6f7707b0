/** What admission asks about other objects, answered from the caches that the change feed keeps. */
import type {Lookups} from '../admission/lookups.ts';
import type {Authorizer} from '../auth/user.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Clock} from '../clock.ts';
import type {KubeObject} from '../object.ts';

/** How long a pod waits for the default service account of a namespace that was made just now. The reference waits as long. */
const defaultAccountWaitMs = 1_000;

export function cachedLookups(caches: ObjectCaches, authorizer: Authorizer, clock: Clock): Lookups {
  const one = async (type: string, key: string): Promise<KubeObject | undefined> => (await caches.of(type)).get(key);
  const all = async (type: string): Promise<readonly KubeObject[]> => [...(await caches.of(type)).values()];
  const accountOf = async (key: string, isOnItsWay: boolean): Promise<KubeObject | undefined> => {
    const cache = await caches.of('serviceaccounts');
    const found = cache.get(key);
    if (found || !isOnItsWay) return found;
    return cache.when(key, defaultAccountWaitMs, clock);
  };
  return {
    namespace: (name) => one('namespaces', name),
    serviceAccount: (namespace, name) => accountOf(`${namespace}/${name}`, name === 'default'),
    limitRanges: async (namespace) => (await all('limitranges')).filter((object) => object.metadata.namespace === namespace),
    priorityClasses: () => all('priorityclasses.scheduling.k8s.io'),
    storageClasses: () => all('storageclasses.storage.k8s.io'),
    ingressClasses: () => all('ingressclasses.networking.k8s.io'),
    runtimeClass: (name) => one('runtimeclasses.node.k8s.io', name),
    node: (name) => one('nodes', name),
    allowed: async (attributes) => (await authorizer.authorize(attributes)).decision === 'allow',
  };
}
