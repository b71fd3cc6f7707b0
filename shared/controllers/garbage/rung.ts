/**
 * The garbage collector of who is rung by the log and follows nothing: what depends on whom is kept in an index of owners, and everything
 * else is asked of the API when it matters.
 *
 * Records come late, doubled and in any order, so it must not matter which of two is seen first. A new reference is noted, and then its
 * owner is asked for; of what went it is seen that it is gone, and then its dependents are read from the index. Whoever comes second
 * finds what the first one left. Foreground and orphan owners are let go only after the store itself was read: a dependent whose record
 * is still on its way would be collected afterwards.
 */
import type {Client} from '../../client/client.ts';
import {isReason} from '../../errors.ts';
import type {KubeObject, OwnerReference} from '../../object.ts';
import type {Catalogue} from '../../registry/catalogue.ts';
import {isStoreError, type Operation, type Revision, type Store} from '../../storage/contract.ts';
import {Collection, type Graph, type OwnerStates, stateId} from './collection.ts';
import {inTurn} from './in-turn.ts';
import type {OwnerIndex, Reference} from './owner-index.ts';
import {dependentsIn} from './scan.ts';
import {foregroundFinalizer, isCollected, keyOf, orphanFinalizer, parseKey, references, type Tied, tiedOf} from './tied.ts';

/** A record of the log, as far as it ties objects together. */
export interface TiedChange {
  type: string;
  key: string;
  operation: Operation;
  revision: Revision;
  /** Its metadata; of a deletion the last ones. */
  object: Pick<KubeObject, 'metadata'>;
}

/** What is asked of the index before anything else is opened. */
export interface Noted {
  /** Dependents with references that nobody has looked at yet. */
  dependents: TiedChange[];
  gone: TiedChange[];
  /** On their way out, and held by one of our finalizers. */
  leaving: TiedChange[];
  /** References to note as settled when all of this is done: until then their records bring them again. */
  open: Reference[];
}

const conflictRetries = 3;

/** Notes what the records say. Empty where nothing is left to be done. */
export async function note(index: OwnerIndex, changes: readonly TiedChange[]): Promise<Noted> {
  const there = changes.filter(({operation}) => operation !== 'delete');
  const gone = changes.filter(({operation}) => operation === 'delete');
  // What a creation says is new. An update mostly says again what is known, which a read finds out for a fraction of a write.
  const created = there.filter(({operation}) => operation === 'create').flatMap(referencesOf);
  const open = await index.unknown(there.filter(({operation}) => operation === 'update').flatMap(referencesOf));
  const fresh = [...created, ...open];
  await inTurn(created, (reference) => index.note(reference, true));
  await inTurn(open, (reference) => index.note(reference, false));
  await inTurn(gone.flatMap(referencesOf), (reference) => index.forget(reference));
  const isFresh = new Set(fresh.map(({type, key, revision}) => `${type} ${key} ${revision}`));
  return {
    dependents: there.filter(({type, key, revision}) => isFresh.has(`${type} ${key} ${revision}`)),
    gone,
    leaving: there.filter(({type, object}) => isHeld(tiedOf(type, object))),
    open,
  };
}

export const isNothing = ({dependents, gone, leaving}: Noted): boolean => dependents.length + gone.length + leaving.length === 0;

export interface RungCollectorOptions {
  client: Client;
  catalogue: Catalogue;
  store: Store;
  index: OwnerIndex;
}

export class RungCollector {
  readonly #options: RungCollectorOptions;

  constructor(options: RungCollectorOptions) {
    this.#options = options;
  }

  /** Does what was noted asks for, and what comes of that. False when the signal came first: then it is to be rung again. */
  collect(noted: Noted, signal: AbortSignal): Promise<boolean> {
    return new Run(this.#options).collect(noted, signal);
  }
}

/** One ring. What it learns of owners holds until its end: who goes meanwhile rings, after its dependents were noted. */
class Run implements Graph {
  readonly #options: RungCollectorOptions;
  readonly #states: OwnerStates = new Map();
  readonly #collection: Collection;
  /** By what they are about: to do the same twice is of no use. */
  readonly #tasks = new Map<string, () => Promise<void>>();

  constructor(options: RungCollectorOptions) {
    this.#options = options;
    this.#collection = new Collection(options.client, options.catalogue, this, this.#states);
  }

  async collect({dependents, gone, leaving, open}: Noted, signal: AbortSignal): Promise<boolean> {
    for (const change of gone) this.#plan('gone', change.key, change.type, () => this.#gone(change));
    for (const change of leaving) this.#plan('leaving', change.key, change.type, () => this.#again(change));
    for (const change of dependents) this.#plan('dependent', change.key, change.type, () => this.#dependent(change));
    while (this.#tasks.size > 0) {
      const due = [...this.#tasks.values()];
      this.#tasks.clear();
      if (!(await inTurn(due, (task) => task(), signal))) return false;
    }
    await inTurn(open, (reference) => this.#options.index.note(reference, true));
    return true;
  }

  known(): undefined {}

  /** From the index, each as it is now. */
  async dependentsOf({uid}: Pick<Tied, 'uid'>): Promise<Tied[]> {
    const found: Tied[] = [];
    await inTurn(await this.#options.index.dependentsOf(uid), async ({type, key, uid: dependent}) => {
      const node = await this.#read(type, key);
      if (node?.uid === dependent && references(node, uid)) found.push(node);
    });
    return found;
  }

  certainDependentsOf(owner: Tied): Promise<Tied[]> {
    return dependentsIn(this.#options.store, this.#options.catalogue, owner);
  }

  look(node: Tied): void {
    this.#plan('look', keyOf(node), node.type, () => this.#reconcile(node));
  }

  changed(node: Tied): void {
    this.look(node);
  }

  /** Its own record says nothing new of its owners, and would not bring them here. */
  unblocked({owners, namespace}: Tied): void {
    for (const owner of owners) this.#planOwner(owner, namespace);
  }

  /** Its dependents need not wait for its record. */
  deleted(node: Tied): void {
    this.#plan('deleted', keyOf(node), node.type, async () => {
      const now = await this.#read(node.type, keyOf(node));
      if (now?.uid !== node.uid) await this.#left(node);
      else if (isHeld(now)) await this.#reconcile(now);
    });
  }

  /** A record with references that are new. */
  async #dependent(change: TiedChange): Promise<void> {
    const node = nodeOf(change);
    const states = await Promise.all(node.owners.map((owner) => this.#collection.stateOf(owner, node.namespace)));
    if (states.every((state) => state === 'solid')) return;
    await this.#again(change);
  }

  async #again(change: TiedChange): Promise<void> {
    const now = await this.#readSince(change);
    if (now) await this.#reconcile(now);
  }

  async #gone(change: TiedChange): Promise<void> {
    const node = nodeOf(change);
    const now = await this.#readSince(change);
    if (now?.uid === node.uid) throw new Error(`${change.type} ${change.key} is there, though the log says that it went`);
    await this.#left(node);
  }

  /** It is not there any more. */
  async #left(node: Tied): Promise<void> {
    this.#states.set(stateId(node), Promise.resolve('gone'));
    for (const dependent of await this.dependentsOf(node)) this.look(dependent);
    // One of its own owners may have waited for it.
    for (const owner of node.owners) this.#planOwner(owner, node.namespace);
  }

  #planOwner(owner: OwnerReference, namespace: string | undefined): void {
    const meant = this.#collection.ownerOf(owner, namespace);
    if (!meant) return;
    this.#plan('owner', `${meant.namespace ?? ''} ${owner.name} ${owner.uid}`, meant.type, async () => {
      if ((await this.#collection.stateOf(owner, namespace)) !== 'foreground') return;
      const now = await this.#collection.read(meant.type, owner.name, meant.namespace);
      if (now?.uid === owner.uid && isHeld(now)) await this.#reconcile(now);
    });
  }

  /** Again as it is then, when somebody writes it at the same time. */
  async #reconcile(node: Tied): Promise<void> {
    let now: Tied | undefined = node;
    for (let tries = 0; now?.uid === node.uid; tries++) {
      try {
        return await this.#collection.reconcile(now);
      } catch (error) {
        if (!isReason(error, 'Conflict') || tries >= conflictRetries) throw error;
        now = await this.#read(node.type, keyOf(node));
      }
    }
  }

  /**
   * The object, not older than its record. The two become visible one after the other: where it shows less than the record says, the log
   * is read, which waits until it does.
   */
  async #readSince({type, key, revision, operation, object}: TiedChange): Promise<Tied | undefined> {
    const isOld = (node: Tied | undefined): boolean => {
      if (operation === 'delete') return node?.uid === object.metadata.uid;
      return node === undefined || Number(node.resourceVersion) < revision;
    };
    const first = await this.#read(type, key);
    if (!isOld(first)) return first;
    try {
      await this.#options.store.log(type, revision - 1, revision);
    } catch (error) {
      // Then it has been visible for long.
      if (!isStoreError(error, 'Compacted')) throw error;
    }
    return this.#read(type, key);
  }

  async #read(type: string, key: string): Promise<Tied | undefined> {
    // The index may be older than what is served.
    if (!this.#options.catalogue.byType(type)) return undefined;
    const {name, namespace} = parseKey(key);
    return this.#collection.read(type, name, namespace);
  }

  #plan(what: string, key: string, type: string, task: () => Promise<void>): void {
    const resource = this.#options.catalogue.byType(type);
    if (resource && isCollected(resource)) this.#tasks.set(`${what} ${type} ${key}`, task);
  }
}

/** Of what has no ties the record's object says no name. */
const nodeOf = ({type, key, object}: TiedChange): Tied => ({...tiedOf(type, object), ...parseKey(key)});

const isHeld = ({deleting, finalizers}: Tied): boolean =>
  deleting && (finalizers.includes(foregroundFinalizer) || finalizers.includes(orphanFinalizer));

const referencesOf = ({type, key, revision, object: {metadata}}: TiedChange): Reference[] =>
  [...new Set((metadata.ownerReferences ?? []).map(({uid}) => uid))].map((owner) => ({
    owner,
    type,
    key,
    uid: metadata.uid ?? '',
    revision,
  }));
