/** The objects of a type, parsed and kept current by the change feed: what authorizers, admission and controllers look things up in. */
import type {Clock} from '../clock.ts';
import type {KubeObject} from '../object.ts';
import {isConfiguration} from '../storage/configuration.ts';
import type {Change, Store, Subscriber, Subscription} from '../storage/contract.ts';

export type CacheListener = (key: string, object: KubeObject | undefined, old: KubeObject | undefined) => void;

export type ListenerFailed = (error: unknown, type: string, key: string) => void;

/** What a cache keeps of an image; undefined when this object is nothing to it. Pure. */
export type Projection = (key: string, image: Uint8Array) => KubeObject | undefined;

const whole: Projection = (_key, image) => JSON.parse(textOf(image));

const textOf = (image: Uint8Array): string => Buffer.from(image.buffer, image.byteOffset, image.byteLength).toString();

/**
 * What ties objects together and nothing else: the garbage collector looks at all objects there are, and ten thousand whole ones would
 * take as much memory as the rest of the process. The rest of an image is not even parsed; of an object that neither has owners nor
 * is held back by anything its uid is all there is to know.
 */
export const ties: Projection = (_key, image) => {
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.byteLength);
  if (!marks.some((mark) => bytes.includes(mark))) return {kind: '', apiVersion: '', metadata: {uid: uidOf(bytes)}};
  const metadata = JSON.parse(metadataOf(bytes.toString())) as KubeObject['metadata'];
  const {name, namespace, uid, deletionTimestamp, ownerReferences, finalizers} = metadata;
  const kept: KubeObject['metadata'] = {};
  if (name !== undefined) kept.name = name;
  if (namespace !== undefined) kept.namespace = namespace;
  if (uid !== undefined) kept.uid = uid;
  if (deletionTimestamp !== undefined) kept.deletionTimestamp = deletionTimestamp;
  if (ownerReferences) kept.ownerReferences = ownerReferences;
  if (finalizers) kept.finalizers = finalizers;
  return {kind: '', apiVersion: '', metadata: kept};
};

/** One of them may also stand in what is no metadata: then the metadata are parsed in vain. */
const marks = ['"ownerReferences":', '"finalizers":', '"deletionTimestamp":'].map((mark) => Buffer.from(mark));
const uidMark = Buffer.from('"uid":"');

/** The metadata's own: in their order (registry/encode.ts) it comes before everything in which another could stand. */
function uidOf(bytes: Buffer): string {
  const start = bytes.indexOf(uidMark) + uidMark.length;
  return start < uidMark.length ? '' : bytes.toString('latin1', start, bytes.indexOf(0x22 /* " */, start));
}

/** Images begin with kind, apiVersion and metadata (registry/encode.ts), and neither of the former can hold a brace or the mark. */
function metadataOf(json: string): string {
  const start = json.indexOf(metadataMark) + metadataMark.length - 1;
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === 0x22 /* " */) at = endOfString(json, at);
    else if (char === 0x7b /* { */) depth++;
    else if (char === 0x7d /* } */ && --depth === 0) return json.slice(start, at + 1);
  }
  throw new SyntaxError('an image without metadata');
}

const metadataMark = '"metadata":{';

function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (json.charCodeAt(at - 1 - slashes) === 0x5c /* \\ */) slashes++;
    if (slashes % 2 === 0) return at;
  }
  throw new SyntaxError('an image that ends in a string');
}

export class ObjectCache {
  readonly #store: Store;
  readonly #type: string;
  readonly #projection: Projection;
  readonly #objects = new Map<string, KubeObject>();
  readonly #listeners: CacheListener[] = [];
  readonly #arrivals = new Map<string, Set<() => void>>();
  #started: Promise<Subscription> | undefined;
  /** From the end of a subscription until its successor holds what the store holds: what is here may be old. */
  #again: Promise<void> | undefined;
  readonly #failed: ListenerFailed;

  constructor(store: Store, type: string, projection: Projection = whole, failed: ListenerFailed = () => {}) {
    this.#store = store;
    this.#type = type;
    this.#projection = projection;
    this.#failed = failed;
  }

  /** Resolves when the cache holds what the store held. Idempotent. */
  async start(): Promise<this> {
    this.#started ??= this.#start().catch((error: unknown) => {
      // Not for ever: whoever asks next tries again.
      this.#started = undefined;
      throw error;
    });
    await this.#started;
    return this;
  }

  /** Undefined: it follows the store, or was never started. @throws what keeps it from following again */
  behind(): Promise<void> | undefined {
    return this.#again?.then(async () => {
      // It could not, then: whoever needs it now tries once more.
      if (!this.#again) return;
      await this.start();
      this.#again = undefined;
    });
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
    for (const [key, object] of this.#objects) this.#tell(listener, key, object, undefined);
  }

  /** The object as soon as it is there; undefined when it does not come within `ms`. */
  async when(key: string, ms: number, clock: Clock): Promise<KubeObject | undefined> {
    await new Promise<void>((resolve) => {
      const waiting = this.#arrivals.get(key) ?? new Set();
      this.#arrivals.set(key, waiting);
      const done = (): void => {
        cancel();
        waiting.delete(done);
        if (waiting.size === 0) this.#arrivals.delete(key);
        resolve();
      };
      const cancel = clock.after(ms, done);
      waiting.add(done);
    });
    return this.#objects.get(key);
  }

  async close(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    // One that never came to be has nothing to close.
    const subscription = await started?.catch(() => undefined);
    subscription?.close();
  }

  async #start(): Promise<Subscription> {
    const scan = await this.#store.scan(this.#type, {prefix: ''});
    // After a subscription that ended: what went meanwhile is told as gone, since nobody else will.
    const present = new Set(scan.items.map(({key}) => key));
    for (const key of [...this.#objects.keys()]) if (!present.has(key)) this.#set(key, undefined);
    for (const item of scan.items) this.#set(item.key, this.#projection(item.key, item.image));
    // A write between here and the first delivery would be acknowledged before the cache knows of it: whoever then asks must not be
    // told of a world without it.
    let live = () => {};
    const isLive = new Promise<void>((resolve) => {
      live = resolve;
    });
    const subscriber: Subscriber = {
      changes: (changes) => {
        for (const change of changes) this.#apply(change);
        live();
      },
      ended: () => {
        this.#started = undefined;
        live();
        // Listeners rely on being told, and nobody may come to start this again. Where the store is closed there is no more to tell.
        this.#again = this.start().then(
          () => {
            this.#again = undefined;
          },
          () => {},
        );
      },
    };
    // Requests bring configuration up to date before they look, where others write too: nobody needs to ask in between.
    const passive = isConfiguration(this.#type);
    const subscription = await this.#store.subscribe(this.#type, scan.revision, subscriber, {passive});
    await isLive;
    return subscription;
  }

  #apply(change: Change): void {
    this.#set(change.key, change.operation === 'delete' ? undefined : this.#projection(change.key, change.image));
  }

  #set(key: string, object: KubeObject | undefined): void {
    const old = this.#objects.get(key);
    if (!object && !old) return;
    if (object) this.#objects.set(key, object);
    else this.#objects.delete(key);
    if (object) for (const arrived of this.#arrivals.get(key) ?? []) arrived();
    for (const listener of this.#listeners) this.#tell(listener, key, object, old);
  }

  /** A listener that cannot bear an object must keep it from nobody else: not from the others, nor them from what comes later. */
  #tell(listener: CacheListener, key: string, object: KubeObject | undefined, old: KubeObject | undefined): void {
    try {
      listener(key, object, old);
    } catch (error) {
      this.#failed(error, this.#type, key);
    }
  }
}

/** The caches of a store, one for each type that somebody looks into. */
export class ObjectCaches {
  readonly #store: Store;
  readonly #caches = new Map<string, ObjectCache>();
  readonly #failed: ListenerFailed | undefined;

  constructor(store: Store, failed?: ListenerFailed) {
    this.#store = store;
    this.#failed = failed;
  }

  of(type: string): Promise<ObjectCache> {
    return this.#open(type, type, whole);
  }

  /** Owners, finalizers and deletion of all objects of a type. */
  tiesOf(type: string): Promise<ObjectCache> {
    return this.#open(`${type} ties`, type, ties);
  }

  /** The objects of this name in all namespaces, whole. */
  named(type: string, name: string): Promise<ObjectCache> {
    const ending = `/${name}`;
    return this.#open(`${type} ${name}`, type, (key, image) => (key.endsWith(ending) ? whole(key, image) : undefined));
  }

  /** What `projection`, which goes by this name, keeps of the objects of a type. */
  projected(type: string, name: string, projection: Projection): Promise<ObjectCache> {
    return this.#open(`${type}: ${name}`, type, projection);
  }

  #open(id: string, type: string, projection: Projection): Promise<ObjectCache> {
    let cache = this.#caches.get(id);
    if (!cache) {
      cache = new ObjectCache(this.#store, type, projection, this.#failed);
      this.#caches.set(id, cache);
    }
    return cache.start();
  }

  /** What must end before caches that lost their subscription can be believed again; undefined when all follow. */
  behind(): Promise<unknown> | undefined {
    const waits = [...this.#caches.values()].flatMap((cache) => cache.behind() ?? []);
    return waits.length > 0 ? Promise.all(waits) : undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#caches.values()].map((cache) => cache.close()));
  }
}
