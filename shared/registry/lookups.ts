/** What admission asks about other objects, answered from the caches that the change feed keeps. */
import type {Lookups} from '../admission/lookups.ts';
import type {Authorizer} from '../auth/user.ts';
import type {ObjectCache, ObjectCaches} from '../changes/object-cache.ts';
import type {Clock} from '../clock.ts';
import type {KubeObject} from '../object.ts';
import type {Store} from '../storage/contract.ts';
import {decodeImage} from './encode.ts';

/** How long a pod waits for the default service account of a namespace that was made just now. The reference waits as long. */
const defaultAccountWaitMs = 1_000;
/** How often a store is asked meanwhile whether another process has made it. */
const askAgainMs = 100;

interface Options {
  caches: ObjectCaches;
  authorizer: Authorizer;
  clock: Clock;
  store: Store;
}

export function cachedLookups({caches, authorizer, clock, store}: Options): Lookups {
  const one = async (type: string, key: string): Promise<KubeObject | undefined> => (await caches.of(type)).get(key);
  const all = async (type: string): Promise<readonly KubeObject[]> => [...(await caches.of(type)).values()];
  const accountOf = async (key: string, isOnItsWay: boolean): Promise<KubeObject | undefined> => {
    const cache = await caches.of('serviceaccounts');
    const found = cache.get(key);
    if (found || !isOnItsWay) return found;
    return store.begin ? soon(cache, key) : cache.when(key, defaultAccountWaitMs, clock);
  };
  /** Nobody tells of what other processes write unless asked. */
  const soon = async (cache: ObjectCache, key: string): Promise<KubeObject | undefined> => {
    for (let waited = 0; waited < defaultAccountWaitMs; waited += askAgainMs) {
      await store.begin!({});
      const found = cache.get(key) ?? (await cache.when(key, askAgainMs, clock));
      if (found) return found;
    }
    return undefined;
  };
  const read = async (type: string, key: string): Promise<KubeObject | undefined> => {
    const stored = await store.read(type, key);
    return stored && decodeImage(stored.image);
  };
  const scan = async (type: string, prefix: string): Promise<readonly KubeObject[]> =>
    (await store.scan(type, {prefix})).items.map(({image}) => decodeImage(image));
  /** No configuration: where others write too, a cache of it would be behind. */
  const current = (type: string, key: string): Promise<KubeObject | undefined> => (store.begin ? read(type, key) : one(type, key));
  return {
    namespace: (name) => one('namespaces', name),
    serviceAccount: (namespace, name) => accountOf(`${namespace}/${name}`, name === 'default'),
    limitRanges: async (namespace) => (await all('limitranges')).filter((object) => object.metadata.namespace === namespace),
    priorityClasses: () => all('priorityclasses.scheduling.k8s.io'),
    storageClasses: () => all('storageclasses.storage.k8s.io'),
    ingressClasses: () => all('ingressclasses.networking.k8s.io'),
    runtimeClass: (name) => one('runtimeclasses.node.k8s.io', name),
    node: (name) => current('nodes', name),
    pod: (namespace, name) => read('pods', `${namespace}/${name}`),
    deviceClasses: () => scan('deviceclasses.resource.k8s.io', ''),
    resourceClaims: (namespace) => scan('resourceclaims.resource.k8s.io', `${namespace}/`),
    allowed: async (attributes) => (await authorizer.authorize(attributes)).decision === 'allow',
  };
}
