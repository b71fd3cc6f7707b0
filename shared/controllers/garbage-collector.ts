/**
 * The garbage collector: deletes what lost its last owner, holds an owner until its dependents are gone (foreground), and cuts
 * dependents loose (orphan). Its graph is built from the caches that the change feed keeps; what it is unsure of it asks the API.
 */
import type {Log} from '../api.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Client, ResourcePath} from '../client/client.ts';
import type {Clock} from '../clock.ts';
import {isReason} from '../errors.ts';
import {sameJson} from '../kinds/common/equal.ts';
import {groupVersion, type KubeObject, type OwnerReference, parseGroupVersion} from '../object.ts';
import type {Catalogue} from '../registry/catalogue.ts';
import type {Resource} from '../registry/resource.ts';
import {Queue} from './queue.ts';

interface Node {
  uid: string;
  type: string;
  name: string;
  namespace: string | undefined;
  owners: readonly OwnerReference[];
  deleting: boolean;
  finalizers: readonly string[];
}

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/** Types whose objects come and go quickly and are nobody's dependents. Leases are: a node's goes with the node. */
const ignoredTypes = new Set(['events', 'servicenodeports.internal']);

export class GarbageCollector {
  readonly #client: Client;
  readonly #catalogue: Catalogue;
  readonly #caches: ObjectCaches;
  readonly #queue: Queue;
  /** Of objects that have owners or finalizers, or are being deleted. The others are told by asking for them. */
  readonly #nodes = new Map<string, Node>();
  #isComplete = false;
  /** What is to be looked at once the graph is complete. */
  readonly #early = new Set<string>();
  /** uid of an owner, present or not, to the uids of its dependents. */
  readonly #dependents = new Map<string, Set<string>>();

  constructor(options: {client: Client; catalogue: Catalogue; caches: ObjectCaches; clock: Clock; log: Log}) {
    this.#client = options.client;
    this.#catalogue = options.catalogue;
    this.#caches = options.caches;
    this.#queue = new Queue(options.clock, options.log, 'garbage-collector', (uid) => this.#reconcile(uid));
  }

  async start(): Promise<void> {
    for (const resource of this.#catalogue.stored()) {
      if (ignoredTypes.has(resource.storageType) || !resource.verbs.includes('delete')) continue;
      const cache = await this.#caches.tiesOf(resource.storageType);
      cache.onChange((_key, object, old) => this.#changed(resource, object, old));
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

  #changed(resource: Resource, object: KubeObject | undefined, old: KubeObject | undefined): void {
    if (!object) {
      const uid = old?.metadata.uid;
      if (uid) this.#removed(uid);
      return;
    }
    const {uid = '', name = '', namespace, ownerReferences = [], finalizers = [], deletionTimestamp} = object.metadata;
    // The same name with another uid: the old object went while nobody looked.
    if (old?.metadata.uid && old.metadata.uid !== uid) this.#removed(old.metadata.uid);
    const before = this.#nodes.get(uid);
    for (const owner of before?.owners ?? []) this.#unlink(owner.uid, uid);
    for (const owner of ownerReferences) this.#link(owner.uid, uid);
    const node: Node = {
      uid,
      type: resource.storageType,
      name,
      namespace,
      owners: ownerReferences,
      deleting: deletionTimestamp !== undefined,
      finalizers,
    };
    if (ownerReferences.length > 0 || finalizers.length > 0 || node.deleting) this.#nodes.set(uid, node);
    else this.#nodes.delete(uid);
    if (ownerReferences.length > 0 && (!before || !sameJson(ownerReferences, before.owners))) this.#look(uid);
    if (node.deleting && (finalizers.includes(foreground) || finalizers.includes(orphan))) this.#look(uid);
    // A foreground owner may be waiting for this one to stop blocking it.
    for (const owner of before?.owners ?? []) if (this.#nodes.get(owner.uid)?.deleting) this.#look(owner.uid);
  }

  #look(uid: string): void {
    if (this.#isComplete) this.#queue.add(uid);
    else this.#early.add(uid);
  }

  #removed(uid: string): void {
    const node = this.#nodes.get(uid);
    this.#nodes.delete(uid);
    for (const owner of node?.owners ?? []) {
      this.#unlink(owner.uid, uid);
      if (this.#nodes.get(owner.uid)?.deleting) this.#look(owner.uid);
    }
    for (const dependent of this.#dependents.get(uid) ?? []) this.#look(dependent);
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
    if (!node) return undefined;
    if (node.deleting) {
      if (node.finalizers.includes(orphan)) await this.#orphanDependents(node);
      else if (node.finalizers.includes(foreground)) await this.#deleteForeground(node);
      return undefined;
    }
    await this.#collect(node);
    return undefined;
  }

  /** Deletes an object none of whose owners is left, or drops the references to those that are gone. */
  async #collect(node: Node): Promise<void> {
    if (node.owners.length === 0) return;
    const states = await Promise.all(node.owners.map((owner) => this.#stateOf(owner, node.namespace)));
    const gone = node.owners.filter((_owner, at) => states[at] === 'gone');
    const waiting = node.owners.filter((_owner, at) => states[at] === 'foreground');
    if (states.includes('solid')) {
      if (gone.length > 0 || waiting.length > 0) await this.#dropOwners(node, new Set([...gone, ...waiting].map(({uid}) => uid)));
      return;
    }
    // An owner that waits in the foreground makes its dependents wait for theirs, too.
    const dependents = waiting.length > 0 ? this.#dependentsOf(node.uid) : [];
    const hasDependents = dependents.length > 0;
    // In a circle everybody would wait for everybody: this one no longer holds its owners back.
    if (dependents.some((dependent) => dependent.deleting && dependent.finalizers.includes(foreground))) await this.#stopBlocking(node);
    const policy = node.finalizers.includes(orphan)
      ? 'Orphan'
      : waiting.length > 0 && hasDependents
        ? 'Foreground'
        : node.finalizers.includes(foreground)
          ? 'Foreground'
          : 'Background';
    await this.#tolerating(async () => {
      const path = this.#pathOf(node);
      const {uid, resourceVersion, ownerReferences = []} = (await this.#client.get(path, node.name)).metadata;
      // Somebody adopted it meanwhile: the change that says so brings it back here.
      if (uid !== node.uid || !sameJson(ownerReferences, node.owners)) return;
      await this.#client.delete(path, node.name, {preconditions: {uid, resourceVersion}, propagationPolicy: policy});
    });
  }

  /** Whether an owner is there: by the graph, else by asking. */
  async #stateOf(owner: OwnerReference, namespace: string | undefined): Promise<'solid' | 'foreground' | 'gone'> {
    const gv = parseGroupVersion(owner.apiVersion);
    const resource = gv && this.#catalogue.byKind(gv.group, gv.version, owner.kind);
    // Nobody can say whether an owner of an unknown kind exists: leave its dependents alone.
    if (!resource) return 'solid';
    // Nor in which namespace the owner of an object without one would be.
    if (resource.namespaced && namespace === undefined) return 'solid';
    const known = this.#nodes.get(owner.uid);
    // The uid alone does not make an owner: it must be of the kind and name that are said, in the dependent's namespace or in none.
    if (known?.type === resource.storageType && known.name === owner.name && (known.namespace ?? namespace) === namespace)
      return known.deleting && known.finalizers.includes(foreground) ? 'foreground' : 'solid';
    try {
      const object = await this.#client.get(
        {groupVersion: groupVersion(resource), resource: resource.resource, namespace: resource.namespaced ? namespace : undefined},
        owner.name,
      );
      const {uid, deletionTimestamp, finalizers} = object.metadata;
      if (uid !== owner.uid) return 'gone';
      return deletionTimestamp && finalizers?.includes(foreground) ? 'foreground' : 'solid';
    } catch (error) {
      if (isReason(error, 'NotFound')) return 'gone';
      throw error;
    }
  }

  async #deleteForeground(node: Node): Promise<void> {
    const dependents = this.#dependentsOf(node.uid);
    for (const dependent of dependents) if (!dependent.deleting) this.#look(dependent.uid);
    const blocking = dependents.filter((dependent) =>
      dependent.owners.some((owner) => owner.uid === node.uid && owner.blockOwnerDeletion === true),
    );
    if (blocking.length === 0) await this.#dropFinalizer(node, foreground);
  }

  async #orphanDependents(node: Node): Promise<void> {
    await Promise.all(this.#dependentsOf(node.uid).map((dependent) => this.#dropOwners(dependent, new Set([node.uid]))));
    await this.#dropFinalizer(node, orphan);
  }

  #dependentsOf(uid: string): Node[] {
    return [...(this.#dependents.get(uid) ?? [])].map((dependent) => this.#nodes.get(dependent)).filter((node) => node !== undefined);
  }

  #dropOwners(node: Node, uids: ReadonlySet<string>): Promise<void> {
    return this.#edit(node, (metadata) => {
      const left = (metadata.ownerReferences ?? []).filter((owner) => !uids.has(owner.uid));
      return left.length === metadata.ownerReferences?.length ? undefined : {ownerReferences: left.length > 0 ? left : null};
    });
  }

  #stopBlocking(node: Node): Promise<void> {
    return this.#edit(node, ({ownerReferences = []}) =>
      ownerReferences.some(({blockOwnerDeletion}) => blockOwnerDeletion)
        ? {ownerReferences: ownerReferences.map((owner) => ({...owner, blockOwnerDeletion: false}))}
        : undefined,
    );
  }

  #dropFinalizer(node: Node, finalizer: string): Promise<void> {
    return this.#edit(node, (metadata) => {
      const left = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
      return left.length === metadata.finalizers?.length ? undefined : {finalizers: left.length > 0 ? left : null};
    });
  }

  /** Patches metadata at exactly the version that was read, so that nobody's concurrent change is lost. */
  async #edit(node: Node, change: (metadata: KubeObject['metadata']) => object | undefined): Promise<void> {
    await this.#tolerating(async () => {
      const path = this.#pathOf(node);
      const object = await this.#client.get(path, node.name);
      const {uid, resourceVersion} = object.metadata;
      const changed = uid === node.uid ? change(object.metadata) : undefined;
      if (changed)
        await this.#client.patch(path, node.name, 'application/merge-patch+json', {metadata: {uid, resourceVersion, ...changed}});
    });
  }

  async #tolerating(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }

  #pathOf(node: Node): ResourcePath {
    const resource = this.#catalogue.byType(node.type)!;
    return {groupVersion: groupVersion(resource), resource: resource.resource, namespace: node.namespace};
  }
}
