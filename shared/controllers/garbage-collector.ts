/**
 * The garbage collector of a process that follows everything: its graph is built from the caches that the change feed keeps. What it
 * decides is told in garbage/collection.ts; where nobody follows everything, garbage/rung.ts does it by records of the log.
 */
import type {Log} from '../api.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Client} from '../client/client.ts';
import type {Clock} from '../clock.ts';
import {sameJson} from '../kinds/common/equal.ts';
import type {KubeObject} from '../object.ts';
import type {Catalogue} from '../registry/catalogue.ts';
import type {Store} from '../storage/contract.ts';
import {Collection, type Graph} from './garbage/collection.ts';
import {dependentsIn} from './garbage/scan.ts';
import {foregroundFinalizer, isCollected, orphanFinalizer, type Tied, tiedOf} from './garbage/tied.ts';
import {Queue} from './queue.ts';

export interface GarbageCollectorOptions {
  client: Client;
  catalogue: Catalogue;
  caches: ObjectCaches;
  clock: Clock;
  log: Log;
  store: Store;
}

export class GarbageCollector implements Graph {
  readonly #catalogue: Catalogue;
  readonly #caches: ObjectCaches;
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #queue: Queue;
  /** Of objects that have owners or finalizers, or are being deleted. The others are told by asking for them. */
  readonly #nodes = new Map<string, Tied>();
  #isComplete = false;
  /** What is to be looked at once the graph is complete. */
  readonly #early = new Set<string>();
  /** uid of an owner, present or not, to the uids of its dependents. */
  readonly #dependents = new Map<string, Set<string>>();

  constructor({client, catalogue, caches, clock, log, store}: GarbageCollectorOptions) {
    this.#catalogue = catalogue;
    this.#caches = caches;
    this.#store = store;
    this.#collection = new Collection(client, catalogue, this);
    this.#queue = new Queue(clock, log, 'garbage-collector', (uid) => this.#reconcile(uid));
  }

  async start(): Promise<void> {
    for (const resource of this.#catalogue.stored()) {
      if (!isCollected(resource)) continue;
      const cache = await this.#caches.tiesOf(resource.storageType);
      cache.onChange((_key, object, old) => this.#changed(resource.storageType, object, old));
    }
    // Before all types are read an owner may seem to have no dependents: it would be let go and they would be collected.
    this.#isComplete = true;
    for (const uid of this.#early) this.#queue.add(uid);
    this.#early.clear();
  }

  /** See Queue. */
  settled(signal: AbortSignal): Promise<boolean> {
    return this.#queue.settled(signal);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** Everything that ties an object to others, as far as it has been heard of. */
  ties(): IterableIterator<Tied> {
    return this.#nodes.values();
  }

  known(uid: string): Tied | undefined {
    return this.#nodes.get(uid);
  }

  async dependentsOf({uid}: Pick<Tied, 'uid'>): Promise<Tied[]> {
    return [...(this.#dependents.get(uid) ?? [])].map((dependent) => this.#nodes.get(dependent)).filter((node) => node !== undefined);
  }

  /** Where others write as well, the caches of some types may be behind what is told of another. */
  certainDependentsOf(owner: Tied): Promise<Tied[]> {
    return this.#store.begin ? dependentsIn(this.#store, this.#catalogue, owner) : this.dependentsOf(owner);
  }

  look({uid}: Pick<Tied, 'uid'>): void {
    if (this.#isComplete) this.#queue.add(uid);
    else this.#early.add(uid);
  }

  /** The change that says so comes by the feed, as those do that come of these. */
  changed(): void {}
  unblocked(): void {}
  deleted(): void {}

  #changed(type: string, object: KubeObject | undefined, old: KubeObject | undefined): void {
    if (!object) {
      const uid = old?.metadata.uid;
      if (uid) this.#removed(uid);
      return;
    }
    const node = tiedOf(type, object);
    const {uid, owners, deleting, finalizers} = node;
    // The same name with another uid: the old object went while nobody looked.
    if (old?.metadata.uid && old.metadata.uid !== uid) this.#removed(old.metadata.uid);
    const before = this.#nodes.get(uid);
    for (const owner of before?.owners ?? []) this.#unlink(owner.uid, uid);
    for (const owner of owners) this.#link(owner.uid, uid);
    if (owners.length > 0 || finalizers.length > 0 || deleting) this.#nodes.set(uid, node);
    else this.#nodes.delete(uid);
    if (owners.length > 0 && (!before || !sameJson(owners, before.owners))) this.look(node);
    if (deleting && (finalizers.includes(foregroundFinalizer) || finalizers.includes(orphanFinalizer))) this.look(node);
    // A foreground owner may be waiting for this one to stop blocking it.
    for (const owner of before?.owners ?? []) if (this.#nodes.get(owner.uid)?.deleting) this.look(owner);
  }

  #removed(uid: string): void {
    const node = this.#nodes.get(uid);
    this.#nodes.delete(uid);
    for (const owner of node?.owners ?? []) {
      this.#unlink(owner.uid, uid);
      if (this.#nodes.get(owner.uid)?.deleting) this.look(owner);
    }
    for (const dependent of this.#dependents.get(uid) ?? []) this.look({uid: dependent});
  }

  #link(owner: string, dependent: string): void {
    const set = this.#dependents.get(owner) ?? new Set<string>();
    set.add(dependent);
    this.#dependents.set(owner, set);
  }

  #unlink(owner: string, dependent: string): void {
    const set = this.#dependents.get(owner);
    set?.delete(dependent);
    if (set?.size === 0) this.#dependents.delete(owner);
  }

  async #reconcile(uid: string): Promise<undefined> {
    const node = this.#nodes.get(uid);
    if (node) await this.#collection.reconcile(node);
    return undefined;
  }
}
