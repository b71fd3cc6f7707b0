/**
 * The quotas of namespaces, for admission to charge. A store that this process owns has a cache of them that is never behind. Where other
 * processes write as well, quotas are read when there are any, and so that most creates need no call to learn that there are none, each
 * quota leaves a marker of a configuration type: what requests know of those is exact (../storage/configuration.ts). The marker is there
 * before its quota and goes after it, under the quota's uid; one that a crash left behind costs its namespace a read, nothing else.
 */
import type {AdmissionAttributes, Billing} from '../admission/attributes.ts';
import {updateManagedFields} from '../apply/managed-fields.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Clock} from '../clock.ts';
import {conflict, objectModified} from '../errors.ts';
import {rfc3339} from '../kinds/common/time.ts';
import {strategyFor} from '../kinds/index.ts';
import {maxQuotaRetries} from '../limits.ts';
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

interface Charge {
  bill: Billing;
  store: Store;
  dryRun: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** A quota that somebody else was faster to change, and what stands there instead, if anything. */
interface Lost {
  lost: KubeObject;
  instead?: KubeObject;
}

export class Quotas {
  readonly #options: Options;
  readonly #isShared: boolean;
  /** Quotas, or their markers, by namespace and key. */
  readonly #known = new Map<string, Map<string, KubeObject>>();
  #following: Promise<void> | undefined;
  /** Who waits to be charged, in namespaces where somebody is being charged. */
  readonly #waiting = new Map<string, Charge[]>();

  constructor(options: Options) {
    this.#options = options;
    this.#isShared = options.store.begin !== undefined;
  }

  /** Looks ahead which namespaces have any, beside what else a create looks up. */
  prepare(): void {
    this.#follow().catch(() => {});
  }

  /** `store`: the request's own, so that a request that has to begin again does so before anything is charged. */
  charger(store: Store, namespace: string, dryRun: boolean): NonNullable<AdmissionAttributes['charge']> {
    return async (prepare) => {
      await this.#follow();
      if (!this.#known.has(namespace)) return;
      const bill = await prepare();
      await new Promise<void>((resolve, reject) => {
        const waiting = this.#waiting.get(namespace);
        const charge: Charge = {bill, store, dryRun, resolve, reject};
        if (waiting) {
          waiting.push(charge);
          return;
        }
        const queue = [charge];
        this.#waiting.set(namespace, queue);
        void this.#work(namespace, queue);
      });
    };
  }

  /** Those who come while others are being charged are charged together: one write for all of them. */
  async #work(namespace: string, queue: Charge[]): Promise<void> {
    while (queue.length > 0) {
      // Where configuration can move, each request finds out with a write of its own.
      const batch = new Set(queue.splice(0, this.#isShared ? 1 : queue.length));
      try {
        await this.#chargeAll(namespace, batch);
        for (const {resolve} of batch) resolve();
      } catch (error) {
        for (const {reject} of batch) reject(error);
      }
    }
    this.#waiting.delete(namespace);
  }

  /** Who is refused leaves the batch. Quotas that others have changed meanwhile are charged again by themselves. */
  async #chargeAll(namespace: string, batch: Set<Charge>): Promise<void> {
    let open = await this.#quotas(namespace);
    for (let retry = 0; open.length > 0 && batch.size > 0; retry++) {
      const now = new Map(open.map((quota) => [quota.metadata.name!, quota]));
      const payers = new Map<string, Charge>();
      for (const charge of batch) {
        try {
          for (const {quota, used} of charge.bill([...now.values()])) {
            if (charge.dryRun) continue;
            const name = quota.metadata.name!;
            now.set(name, {...quota, status: {...quota.status, used: sorted(used)}});
            if (!payers.has(name)) payers.set(name, charge);
          }
        } catch (error) {
          batch.delete(charge);
          charge.reject(error);
        }
      }
      const written = await Promise.all(
        open.flatMap((quota) => {
          const payer = payers.get(quota.metadata.name!);
          return payer ? [this.#write(payer.store, quota, now.get(quota.metadata.name!)!)] : [];
        }),
      );
      const lost = written.filter((outcome) => outcome !== 'written');
      if (lost.length > 0 && retry >= maxQuotaRetries)
        throw conflict({group: '', resource: quotaType}, lost[0]!.lost.metadata.name!, objectModified);
      open = lost.flatMap(({instead}) => (instead ? [instead] : []));
    }
  }

  async #write(store: Store, quota: KubeObject, charged: KubeObject): Promise<'written' | Lost> {
    const {clock} = this.#options;
    const {name, namespace, resourceVersion} = quota.metadata;
    const object: KubeObject = {...charged, metadata: {...quota.metadata}};
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
      return 'written';
    } catch (error) {
      if (!isStoreError(error) || (error.code !== 'Changed' && error.code !== 'NotFound')) throw error;
      if (this.#isShared) await new Promise<void>((resolve) => void clock.after(Math.random() * backOffMs, resolve));
      const instead = error.code === 'NotFound' ? undefined : (error.current ?? (await store.read(quotaType, key)));
      return {lost: quota, ...(instead && {instead: decodeImage(instead.image)})};
    }
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
