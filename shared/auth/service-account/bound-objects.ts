/** What tokens are bound to, read from the caches that the change feed keeps. Only types that some token speaks of are ever read. */
import type {KubeObject} from '../../object.ts';
import {isConfiguration} from '../../storage/configuration.ts';
import type {Store} from '../../storage/contract.ts';
import type {BoundObjects, BoundResource} from './verifier.ts';

interface Cache {
  get(key: string): KubeObject | undefined;
  onChange(listener: (key: string, object: KubeObject | undefined, old: KubeObject | undefined) => void): void;
}

/**
 * Where other processes write as well, following all pods for the sake of their tokens would cost more than a read whenever a token is
 * looked at again. Configuration is brought up to date before each request anyway.
 */
export function boundObjects(
  store: Pick<Store, 'begin' | 'read'>,
  caches: {of(type: string): Promise<Cache>},
  forget: (resource: BoundResource, key: string) => void,
): BoundObjects {
  const cached = cachedBoundObjects(caches, forget);
  if (!store.begin) return cached;
  const decoder = new TextDecoder();
  return {
    async get(resource, namespace, name) {
      if (isConfiguration(resource)) return cached.get(resource, namespace, name);
      const stored = await store.read(resource, namespace ? `${namespace}/${name}` : name);
      return stored && identityOf(JSON.parse(decoder.decode(stored.image)) as KubeObject);
    },
  };
}

function identityOf(object: KubeObject | undefined): {uid: string; deletionTimestamp?: string} | undefined {
  const {uid, deletionTimestamp} = object?.metadata ?? {};
  return uid === undefined ? undefined : {uid, ...(deletionTimestamp && {deletionTimestamp})};
}

/** @param forget hears of every object that is gone, going, or another one by the same name */
export function cachedBoundObjects(
  caches: {of(type: string): Promise<Cache>},
  forget: (resource: BoundResource, key: string) => void,
): BoundObjects {
  const followed = new Map<BoundResource, Promise<Cache>>();
  const follow = async (resource: BoundResource): Promise<Cache> => {
    const cache = await caches.of(resource);
    cache.onChange((key, object, old) => {
      const isSame = object && old && object.metadata.uid === old.metadata.uid;
      if (old && (!isSame || object.metadata.deletionTimestamp)) forget(resource, key);
    });
    return cache;
  };
  return {
    async get(resource, namespace, name) {
      let cache = followed.get(resource);
      if (!cache) {
        cache = follow(resource);
        followed.set(resource, cache);
        // The next look-up tries again.
        cache.catch(() => followed.delete(resource));
      }
      return identityOf((await cache).get(namespace ? `${namespace}/${name}` : name));
    },
  };
}
