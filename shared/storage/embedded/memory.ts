/** The engine's data in copy-on-write B+trees: a view or a fork is a clone in constant time. Nothing survives the process. */

import type {Revision} from '../contract.ts';
import {type Backing, type Commit, countedPrefixes, type State, sortKey, type Version, type View} from './backing.ts';
import {BTree} from './btree.ts';

class Collection implements View {
  readonly objects: BTree<string, Version>;
  readonly versions: BTree<Revision, Version>;
  readonly counts: BTree<string, number>;

  constructor(from?: Collection) {
    this.objects = from?.objects.clone() ?? new BTree<string, Version>(undefined, byUnits);
    this.versions = from?.versions.clone() ?? new BTree<Revision, Version>(undefined, byNumber);
    this.counts = from?.counts.clone() ?? new BTree<string, number>(undefined, byUnits);
  }

  add(version: Version): void {
    const {key, revision} = version.stored;
    this.versions.set(revision, version);
    // By what was there, not by the operation: in a copy of a compacted store an update may come first.
    const change =
      version.operation === 'delete' ? -Number(this.objects.delete(sortKey(key))) : Number(this.objects.set(sortKey(key), version));
    if (change === 0) return;
    for (const prefix of countedPrefixes(key)) {
      const count = this.counts.get(prefix, 0)! + change;
      if (count > 0 || prefix === '') this.counts.set(prefix, count);
      else this.counts.delete(prefix);
    }
  }

  get(key: string): Version | undefined {
    return this.objects.get(sortKey(key));
  }

  version(revision: Revision): Version | undefined {
    return this.versions.get(revision);
  }

  *live(from: string, exclusive: boolean): IterableIterator<Version> {
    for (const [key, version] of this.objects.entries(from, [])) if (!exclusive || key !== from) yield version;
  }

  *history(after: Revision, through: Revision): IterableIterator<Version> {
    for (const [revision, version] of this.versions.entries(after + 1, [])) {
      if (revision > through) return;
      yield version;
    }
  }

  count(prefix: string): number | undefined {
    return prefix === '' || prefix.indexOf('/') === prefix.length - 1 ? this.counts.get(prefix, 0) : undefined;
  }

  countBehind(from: string, prefix: string, limit: number): number {
    const start = sortKey(prefix);
    let count = 0;
    for (const key of this.objects.keys(from)) {
      if (!key.startsWith(start) || count === limit) break;
      if (key !== from) count++;
    }
    return count;
  }

  shows(): boolean {
    return true;
  }

  release(): void {}
}

const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byNumber = (a: number, b: number): number => a - b;

const nothing = new Collection();

export class MemoryBacking implements Backing {
  readonly grouped = false;
  #collections: Map<string, Collection>;
  #state: State;

  constructor(state: State = {head: 0, compactedThrough: 0, sweptThrough: 0}, collections = new Map<string, Collection>()) {
    this.#state = state;
    this.#collections = collections;
  }

  get state(): State {
    return this.#state;
  }

  view(type: string, hold: boolean): View {
    const collection = this.#collections.get(type) ?? nothing;
    return hold ? new Collection(collection) : collection;
  }

  commit(commit: Commit, published: () => void): undefined {
    for (const {type, version} of commit.versions) this.#collection(type).add(version);
    for (const {type, revision} of commit.forget) this.#collection(type).versions.delete(revision);
    this.#state = commit.state;
    published();
  }

  isUntouched(): boolean {
    return true;
  }

  isUsable(): boolean {
    return true;
  }

  types(): Map<string, number> {
    return new Map([...this.#collections].map(([type, collection]) => [type, collection.count('')!]));
  }

  fork(): Backing {
    return new MemoryBacking(this.#state, new Map([...this.#collections].map(([type, from]) => [type, new Collection(from)])));
  }

  async close(): Promise<void> {
    this.#collections = new Map();
  }

  #collection(type: string): Collection {
    let collection = this.#collections.get(type);
    if (!collection) {
      collection = new Collection();
      this.#collections.set(type, collection);
    }
    return collection;
  }
}
