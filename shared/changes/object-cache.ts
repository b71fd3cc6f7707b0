/** The objects of a type, parsed and kept current by the change feed: what authorizers, admission and controllers look things up in. */
import type {KubeObject} from '../object.ts';
import type {Change, Store, Subscription} from '../storage/contract.ts';

export type CacheListener = (key: string, object: KubeObject | undefined, old: KubeObject | undefined) => void;

const parse = (image: Uint8Array): KubeObject => JSON.parse(Buffer.from(image.buffer, image.byteOffset, image.byteLength).toString());

export class ObjectCache {
  readonly #store: Store;
  readonly #type: string;
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners: CacheListener[] = [];
  #started: Promise<Subscription> | undefined;

  constructor(store: Store, type: string) {
    this.#store = store;
    this.#type = type;
  }

  /** Resolves when the cache holds what the store held. Idempotent. */
  async start(): Promise<this> {
    this.#started ??= this.#start();
    await this.#started;
    return this;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<KubeObject> {
    return this.#objects.values();
  }

  /** Called for what is there already and then for each change; `object` is absent for a delete. */
  onChange(listener: CacheListener): void {
    this.#listeners.push(listener);
    for (const [key, object] of this.#objects) listener(key, object, undefined);
  }

  async close(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    (await started)?.close();
  }

  async #start(): Promise<Subscription> {
    const scan = await this.#store.scan(this.#type, {prefix: ''});
    for (const item of scan.items) this.#set(item.key, parse(item.image));
    return this.#store.subscribe(this.#type, scan.revision, {
      changes: (changes) => {
        for (const change of changes) this.#apply(change);
      },
      ended: () => {
        // The store closed, or compaction ran past us: the next start reads everything again.
        this.#started = undefined;
        this.#objects.clear();
      },
    });
  }

  #apply(change: Change): void {
    this.#set(change.key, change.operation === 'delete' ? undefined : parse(change.image));
  }

  #set(key: string, object: KubeObject | undefined): void {
    const old = this.#objects.get(key);
    if (object) this.#objects.set(key, object);
    else this.#objects.delete(key);
    for (const listener of this.#listeners) listener(key, object, old);
  }
}

/** The caches of a store, one for each type that somebody looks into. */
export class ObjectCaches {
  readonly #store: Store;
  readonly #caches = new Map<string, ObjectCache>();

  constructor(store: Store) {
    this.#store = store;
  }

  of(type: string): Promise<ObjectCache> {
    let cache = this.#caches.get(type);
    if (!cache) {
      cache = new ObjectCache(this.#store, type);
      this.#caches.set(type, cache);
    }
    return cache.start();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#caches.values()].map((cache) => cache.close()));
  }
}
