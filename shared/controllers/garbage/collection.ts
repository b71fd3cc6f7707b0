/**
 * What the garbage collector decides about one object, and does: deletes what lost its last owner, holds an owner until its dependents are
 * gone (foreground), cuts dependents loose (orphan). Who owns whom is told by a Graph; what that is unsure of is asked of the API.
 */
import type {Client, ResourcePath} from '../../client/client.ts';
import {isReason} from '../../errors.ts';
import {sameJson} from '../../kinds/common/equal.ts';
import {groupVersion, type KubeObject, type OwnerReference, parseGroupVersion} from '../../object.ts';
import type {Catalogue} from '../../registry/catalogue.ts';
import {foregroundFinalizer, orphanFinalizer, type Tied, tiedOf} from './tied.ts';

export interface Graph {
  /** An object that is there, without asking for it. */
  known(uid: string): Tied | undefined;
  dependentsOf(owner: Tied): Promise<readonly Tied[]>;
  /** All of them, without doubt: asked before an owner is let go, since who is forgotten then would be collected. */
  certainDependentsOf(owner: Tied): Promise<readonly Tied[]>;
  /** It has to be looked at. */
  look(node: Tied): void;
  /** It no longer holds its owners back. */
  unblocked(node: Tied): void;
  /** It was told to go, and may be gone. */
  deleted(node: Tied): void;
  /** It is not what was looked at any more, but this. */
  changed(node: Tied): void;
}

export type OwnerState = 'solid' | 'foreground' | 'gone';
/** By stateId. */
export type OwnerStates = Map<string, Promise<OwnerState>>;

export class Collection {
  readonly #client: Client;
  readonly #catalogue: Catalogue;
  readonly #graph: Graph;
  readonly #states: OwnerStates | undefined;

  /** `states`: owners that have been asked for, where that holds for as long as this is used. */
  constructor(client: Client, catalogue: Catalogue, graph: Graph, states?: OwnerStates) {
    this.#client = client;
    this.#catalogue = catalogue;
    this.#graph = graph;
    this.#states = states;
  }

  async reconcile(node: Tied): Promise<void> {
    if (!node.deleting) await this.#collect(node);
    else if (node.finalizers.includes(orphanFinalizer)) await this.#orphanDependents(node);
    else if (node.finalizers.includes(foregroundFinalizer)) await this.#deleteForeground(node);
  }

  /** Of the object with this key, as it is now. */
  async read(type: string, name: string, namespace: string | undefined): Promise<Tied | undefined> {
    try {
      return tiedOf(type, await this.#client.get(this.#pathOf({type, namespace}), name));
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** The owner that is meant, if it is of a kind that is known, and in which namespace it would be. */
  ownerOf({apiVersion, kind}: OwnerReference, namespace: string | undefined): {type: string; namespace: string | undefined} | undefined {
    const gv = parseGroupVersion(apiVersion);
    const resource = gv && this.#catalogue.byKind(gv.group, gv.version, kind);
    // Nobody can say in which namespace the owner of an object without one would be.
    if (!resource || (resource.namespaced && namespace === undefined)) return undefined;
    return {type: resource.storageType, namespace: resource.namespaced ? namespace : undefined};
  }

  /** Whether an owner is there: by the graph, else by asking. Of whom nothing can be said, the dependents are left alone. */
  async stateOf(owner: OwnerReference, namespace: string | undefined): Promise<OwnerState> {
    const meant = this.ownerOf(owner, namespace);
    if (!meant) return 'solid';
    const known = this.#graph.known(owner.uid);
    // The uid alone does not make an owner: it must be of the kind and name that are said, in the dependent's namespace or in none.
    if (known?.type === meant.type && known.name === owner.name && known.namespace === meant.namespace) return stateOf(known);
    const id = stateId({...meant, name: owner.name, uid: owner.uid});
    const asked = this.#states?.get(id) ?? this.#ask(owner.uid, meant.type, owner.name, meant.namespace);
    this.#states?.set(id, asked);
    return asked;
  }

  async #ask(uid: string, type: string, name: string, namespace: string | undefined): Promise<OwnerState> {
    const found = await this.read(type, name, namespace);
    return found?.uid === uid ? stateOf(found) : 'gone';
  }

  /** Deletes an object none of whose owners is left, or drops the references to those that are gone. */
  async #collect(node: Tied): Promise<void> {
    if (node.owners.length === 0) return;
    const states = await Promise.all(node.owners.map((owner) => this.stateOf(owner, node.namespace)));
    const gone = node.owners.filter((_owner, at) => states[at] === 'gone');
    const waiting = node.owners.filter((_owner, at) => states[at] === 'foreground');
    if (states.includes('solid')) {
      if (gone.length > 0 || waiting.length > 0)
        await this.#dropOwners(node, new Set([...gone, ...waiting].map(({uid}) => uid)), node.owners);
      return;
    }
    // An owner that waits in the foreground makes its dependents wait for theirs, too.
    const dependents = waiting.length > 0 ? await this.#graph.dependentsOf(node) : [];
    const hasDependents = dependents.length > 0;
    // In a circle everybody would wait for everybody: this one no longer holds its owners back.
    if (dependents.some((dependent) => dependent.deleting && dependent.finalizers.includes(foregroundFinalizer)))
      await this.#stopBlocking(node);
    const policy = node.finalizers.includes(orphanFinalizer)
      ? 'Orphan'
      : waiting.length > 0 && hasDependents
        ? 'Foreground'
        : node.finalizers.includes(foregroundFinalizer)
          ? 'Foreground'
          : 'Background';
    await tolerating(async () => {
      const path = this.#pathOf(node);
      const now = node.resourceVersion === undefined ? tiedOf(node.type, await this.#client.get(path, node.name)) : node;
      if (now.uid !== node.uid) return;
      // Somebody adopted it meanwhile.
      if (!sameJson(now.owners, node.owners)) return this.#graph.changed(now);
      const preconditions = {uid: now.uid, resourceVersion: now.resourceVersion};
      await this.#client.delete(path, node.name, {preconditions, propagationPolicy: policy});
      this.#graph.deleted(node);
    });
  }

  async #deleteForeground(node: Tied): Promise<void> {
    if (await this.#isHeldBack(node, await this.#graph.dependentsOf(node))) return;
    if (await this.#isHeldBack(node, await this.#graph.certainDependentsOf(node))) return;
    await this.#dropFinalizer(node, foregroundFinalizer);
  }

  async #isHeldBack(node: Tied, dependents: readonly Tied[]): Promise<boolean> {
    for (const dependent of dependents) if (!dependent.deleting) this.#graph.look(dependent);
    return dependents.some((dependent) => dependent.owners.some((owner) => owner.uid === node.uid && owner.blockOwnerDeletion === true));
  }

  async #orphanDependents(node: Tied): Promise<void> {
    const dependents = await this.#graph.certainDependentsOf(node);
    await Promise.all(dependents.map((dependent) => this.#dropOwners(dependent, new Set([node.uid]))));
    await this.#dropFinalizer(node, orphanFinalizer);
  }

  /** `known`: what its owners must still be, where that was decided on. */
  #dropOwners(node: Tied, uids: ReadonlySet<string>, known?: readonly OwnerReference[]): Promise<void> {
    return this.#edit(node, (metadata) => {
      if (known && !sameJson(metadata.ownerReferences ?? [], known)) {
        this.#graph.changed(tiedOf(node.type, {metadata}));
        return undefined;
      }
      const left = (metadata.ownerReferences ?? []).filter((owner) => !uids.has(owner.uid));
      return left.length === metadata.ownerReferences?.length ? undefined : {ownerReferences: left.length > 0 ? left : null};
    });
  }

  async #stopBlocking(node: Tied): Promise<void> {
    await this.#edit(node, ({ownerReferences = []}) =>
      ownerReferences.some(({blockOwnerDeletion}) => blockOwnerDeletion)
        ? {ownerReferences: ownerReferences.map((owner) => ({...owner, blockOwnerDeletion: false}))}
        : undefined,
    );
    this.#graph.unblocked(node);
  }

  #dropFinalizer(node: Tied, finalizer: string): Promise<void> {
    return this.#edit(node, (metadata) => {
      const left = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
      return left.length === metadata.finalizers?.length ? undefined : {finalizers: left.length > 0 ? left : null};
    });
  }

  /** Patches metadata at exactly the version that was read, so that nobody's concurrent change is lost. */
  async #edit(node: Tied, change: (metadata: KubeObject['metadata']) => object | undefined): Promise<void> {
    await tolerating(async () => {
      const path = this.#pathOf(node);
      const object = await this.#client.get(path, node.name);
      const {uid, resourceVersion} = object.metadata;
      const changed = uid === node.uid ? change(object.metadata) : undefined;
      if (changed)
        await this.#client.patch(path, node.name, 'application/merge-patch+json', {metadata: {uid, resourceVersion, ...changed}});
    });
  }

  #pathOf({type, namespace}: Pick<Tied, 'type' | 'namespace'>): ResourcePath {
    const resource = this.#catalogue.byType(type)!;
    return {groupVersion: groupVersion(resource), resource: resource.resource, namespace};
  }
}

/** Under which an owner's state is remembered. */
export const stateId = ({type, namespace, name, uid}: Pick<Tied, 'type' | 'namespace' | 'name' | 'uid'>): string =>
  `${type} ${namespace ?? ''} ${name} ${uid}`;

const stateOf = ({deleting, finalizers}: Tied): OwnerState =>
  deleting && finalizers.includes(foregroundFinalizer) ? 'foreground' : 'solid';

async function tolerating(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isReason(error, 'NotFound')) throw error;
  }
}
