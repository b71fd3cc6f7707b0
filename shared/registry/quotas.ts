/**
 * The quotas of namespaces, for admission to charge. A store that this process owns has a cache of them that is never behind. Where other
 * processes write as well, quotas are read when there are any, and so that most creates need no call to learn that there are none, each
 * quota leaves a marker of a configuration type: what requests know of those is exact (../storage/configuration.ts). The marker is there
 * before its quota and goes after it, under the quota's uid; one that a crash left behind costs its namespace a read, nothing else.
 */
import type {Charged} from '../admission/attributes.ts';
import {updateManagedFields} from '../apply/managed-fields.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Clock} from '../clock.ts';
import {rfc3339} from '../kinds/common/time.ts';
import {strategyFor} from '../kinds/index.ts';
import type {KubeObject} from '../object.ts';
import {typeByKind} from '../schema/types.ts';
import {isStoreError, type Store} from '../storage/contract.ts';
import {decodeImage, imageEncoder} from './encode.ts';
import type {Claim} from './hooks.ts';
import {indexOf} from './index-of.ts';

export const quotaType = 'resourcequotas';
/** Not the name of any resource: nothing serves it. */
const markerType = 'quotamarkers.internal';
/** Up to so long, by chance, before who was too slow tries again: others are at it in other processes. */
const backOffMs = 20;

interface Options {
  store: Store;
  caches: ObjectCaches;
  clock: Clock;
}

export class Quotas {
  readonly #options: Options;
  readonly #isShared: boolean;
  /** Quotas, or their markers, by namespace and key. */
  readonly #known = new Map<string, Map<string, KubeObject>>();
  #following: Promise<void> | undefined;
  /** Who is charging in a namespace, the last of a queue. */
  readonly #queues = new Map<string, Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
    this.#isShared = options.store.begin !== undefined;
  }

  /** Looks ahead which namespaces have any, beside what else a create looks up. */
  prepare(): void {
    this.#follow().catch(() => {});
  }

  /** Calls `work` with the quotas of a namespace, by name, one caller at a time; not at all where there are none. */
  async of(namespace: string, work: (quotas: readonly KubeObject[]) => Promise<void>): Promise<void> {
    await this.#follow();
    if (!this.#known.has(namespace)) return;
    const charging = (this.#queues.get(namespace) ?? Promise.resolve()).then(async () => {
      const quotas = await this.#quotas(namespace);
      if (quotas.length > 0) await work(quotas);
    });
    // Whoever comes next waits for the end, however it was.
    const ended = charging.catch(() => {});
    this.#queues.set(namespace, ended);
    try {
      await charging;
    } finally {
      if (this.#queues.get(namespace) === ended) this.#queues.delete(namespace);
    }
  }

  /** `store`: the request's own, so that a request that has to begin again does so before anything is charged. */
  charger(store: Store): (quota: KubeObject, used: Readonly<Record<string, string>>) => Promise<Charged> {
    return async (quota, used) => {
      const {clock} = this.#options;
      const {name, namespace, resourceVersion} = quota.metadata;
      const object: KubeObject = {...quota, metadata: {...quota.metadata}, status: {...quota.status, used: sorted(used)}};
      updateManagedFields({
        live: quota,
        object,
        manager: 'kube-apiserver',
        subresource: 'status',
        apiVersion: 'v1',
        now: rfc3339(clock.now()),
        type: typeByKind({group: '', version: 'v1', kind: 'ResourceQuota'}),
      });
      const key = `${namespace}/${name}`;
      try {
        await store.append({
          type: quotaType,
          key,
          expected: Number(resourceVersion),
          operation: 'put',
          encode: imageEncoder(object),
          index: indexOf(strategyFor('', 'ResourceQuota'), object),
        });
        return {done: true};
      } catch (error) {
        if (!isStoreError(error) || (error.code !== 'Changed' && error.code !== 'NotFound')) throw error;
        if (this.#isShared) await new Promise<void>((resolve) => void clock.after(Math.random() * backOffMs, resolve));
        const instead = error.code === 'NotFound' ? undefined : (error.current ?? (await store.read(quotaType, key)));
        return {done: false, ...(instead && {instead: decodeImage(instead.image)})};
      }
    };
  }

  /** Before a quota is written. The claim takes the marker away again when that fails. */
  async mark(store: Store, {metadata: {name, namespace, uid}}: KubeObject): Promise<Claim | undefined> {
    if (!this.#isShared) return undefined;
    await this.#follow();
    const key = `${namespace}/${uid}`;
    if (this.#known.get(namespace!)?.has(key)) return undefined;
    const marker = {kind: 'QuotaMarker', apiVersion: 'internal/v1', metadata: {name: name!, namespace: namespace!, uid: uid!}};
    try {
      await store.append({type: markerType, key, expected: 'absent', operation: 'put', encode: imageEncoder(marker), index: {}});
    } catch (error) {
      if (!isStoreError(error, 'Exists')) throw error;
      return undefined;
    }
    return {release: () => this.#removeMarker(store, key)};
  }

  /** After a quota has gone. */
  async unmark(store: Store, {metadata: {namespace, uid}}: KubeObject): Promise<void> {
    if (this.#isShared) await this.#removeMarker(store, `${namespace}/${uid}`);
  }

  async #removeMarker(store: Store, key: string): Promise<void> {
    const stored = await store.read(markerType, key);
    if (!stored) return;
    const {revision, image, index} = stored;
    const last = imageEncoder(decodeImage(image));
    await store.append({type: markerType, key, expected: revision, operation: 'delete', encode: last, index});
  }

  async #quotas(namespace: string): Promise<readonly KubeObject[]> {
    let found = [...(this.#known.get(namespace)?.values() ?? [])];
    if (this.#isShared) {
      const names = new Set(found.map(({metadata}) => metadata.name!));
      const stored = await Promise.all([...names].map((name) => this.#options.store.read(quotaType, `${namespace}/${name}`)));
      found = stored.flatMap((one) => (one ? [decodeImage(one.image)] : []));
    }
    return found.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  }

  #follow(): Promise<void> {
    this.#following ??= this.#start().catch((error: unknown) => {
      // Not for ever: whoever asks next tries again.
      this.#following = undefined;
      throw error;
    });
    return this.#following;
  }

  async #start(): Promise<void> {
    const cache = await this.#options.caches.of(this.#isShared ? markerType : quotaType);
    cache.onChange((key, object) => {
      const namespace = key.slice(0, key.indexOf('/'));
      const known = this.#known.get(namespace) ?? new Map<string, KubeObject>();
      if (object) this.#known.set(namespace, known.set(key, object));
      else if (known.delete(key) && known.size === 0) this.#known.delete(namespace);
    });
  }
}

/** As maps of amounts are served. */
const sorted = (amounts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)));
