/** What tokens are bound to, read from the caches that the change feed keeps. Only types that some token speaks of are ever read. */
import type {KubeObject} from '../../object.ts';
import type {BoundObjects, BoundResource} from './verifier.ts';

interface Cache {
  get(key: string): KubeObject | undefined;
  onChange(listener: (key: string, object: KubeObject | undefined, old: KubeObject | undefined) => void): void;
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
      const {uid, deletionTimestamp} = (await cache).get(namespace ? `${namespace}/${name}` : name)?.metadata ?? {};
      return uid === undefined ? undefined : {uid, ...(deletionTimestamp && {deletionTimestamp})};
    },
  };
}
