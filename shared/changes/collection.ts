/**
 * A collection that is listed often, kept in memory with the body that its lists are answered with. Before each use it asks the store
 * for its head and applies what changed since: an answer costs what changed, not what there is, and is as fresh as a scan.
 */
import type {Clock} from '../clock.ts';
import {isStoreError, type Revision, type Store, type Stored} from '../storage/contract.ts';

export interface CollectionView {
  revision: Revision;
  items: readonly Stored[];
  /** What was derived from exactly these items before, by a key that the caller chooses. Dropped when an item changes. */
  derived: Map<string, unknown>;
}

/** A type must have been listed this often within the window before it is kept. */
const hotAfterLists = 3;
const hotWindowMs = 10_000;
/** A collection that nobody lists for this long is dropped. */
const idleMs = 30_000;
/** Collections with more bytes than this are scanned each time. */
const maxCollectionBytes = 64 * 1024 * 1024;

interface Kept {
  revision: Revision;
  /** By key, ascending bytewise. */
  items: Stored[];
  bytes: number;
  views: Map<string, CollectionView>;
  lastUsed: number;
  cancelIdle: () => void;
}

export class Collections {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #recent = new Map<string, number[]>();
  readonly #busy = new Map<string, Promise<CollectionView | undefined>>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The newest state under `prefix`, or undefined when the type is not hot and the caller should scan. */
  async view(type: string, prefix: string): Promise<CollectionView | undefined> {
    if (!this.#kept.has(type) && !this.#isHot(type)) return undefined;
    // One refresh at a time for each type: two deltas applied at once would tear the items.
    for (;;) {
      const busy = this.#busy.get(type);
      if (!busy) break;
      await busy;
    }
    const refreshing = this.#refresh(type).then((kept) => kept && viewOf(kept, prefix));
    this.#busy.set(type, refreshing);
    try {
      return await refreshing;
    } finally {
      this.#busy.delete(type);
    }
  }

  async #refresh(type: string): Promise<Kept | undefined> {
    let kept = this.#kept.get(type);
    if (kept) {
      const head = await this.#store.head(type);
      if (head > kept.revision) {
        try {
          const changes = await this.#store.log(type, kept.revision, head);
          if (changes.length > 0) apply(kept, changes);
          kept.revision = head;
          // It has outgrown what is kept: this last list is answered from it, later ones are scanned.
          if (kept.bytes > maxCollectionBytes) this.#drop(type);
        } catch (error) {
          if (!isStoreError(error, 'Compacted')) throw error;
          this.#drop(type);
          kept = undefined;
        }
      }
    }
    if (!kept) kept = await this.#load(type);
    if (kept) kept.lastUsed = this.#clock.now();
    return kept;
  }

  async #load(type: string): Promise<Kept | undefined> {
    const scan = await this.#store.scan(type, {prefix: ''});
    const bytes = scan.items.reduce((sum, item) => sum + item.image.length, 0);
    if (bytes > maxCollectionBytes) return undefined;
    const kept: Kept = {
      revision: scan.revision,
      items: scan.items,
      bytes,
      views: new Map(),
      lastUsed: this.#clock.now(),
      cancelIdle: () => {},
    };
    this.#kept.set(type, kept);
    const checkIdle = () => {
      if (this.#clock.now() - kept.lastUsed >= idleMs) this.#drop(type);
      else kept.cancelIdle = this.#clock.after(idleMs, checkIdle);
    };
    kept.cancelIdle = this.#clock.after(idleMs, checkIdle);
    return kept;
  }

  #drop(type: string): void {
    this.#kept.get(type)?.cancelIdle();
    this.#kept.delete(type);
  }

  close(): void {
    for (const type of [...this.#kept.keys()]) this.#drop(type);
  }

  #isHot(type: string): boolean {
    const now = this.#clock.now();
    const recent = (this.#recent.get(type) ?? []).filter((time) => now - time < hotWindowMs);
    recent.push(now);
    if (recent.length > hotAfterLists) {
      this.#recent.delete(type);
      return true;
    }
    this.#recent.set(type, recent);
    return false;
  }
}

function viewOf(kept: Kept, prefix: string): CollectionView {
  let view = kept.views.get(prefix);
  if (!view) {
    const start = prefix ? lowerBound(kept.items, prefix) : 0;
    let end = kept.items.length;
    if (prefix) {
      end = start;
      while (end < kept.items.length && kept.items[end]!.key.startsWith(prefix)) end++;
    }
    view = {revision: kept.revision, items: prefix ? kept.items.slice(start, end) : kept.items.slice(), derived: new Map()};
    // Of namespaces that hold nothing there are as many as strangers care to name.
    if (view.items.length > 0 || prefix === '') kept.views.set(prefix, view);
  }
  view.revision = kept.revision;
  return {...view};
}

function apply(kept: Kept, changes: readonly (Stored & {operation: string})[]): void {
  for (const change of changes) {
    const at = lowerBound(kept.items, change.key);
    const present = kept.items[at]?.key === change.key;
    if (present) kept.bytes -= kept.items[at]!.image.length;
    if (change.operation === 'delete') {
      if (present) kept.items.splice(at, 1);
    } else {
      const item: Stored = {key: change.key, revision: change.revision, image: change.image, index: change.index};
      kept.items.splice(at, present ? 1 : 0, item);
      kept.bytes += item.image.length;
    }
    for (const prefix of kept.views.keys()) if (change.key.startsWith(prefix)) kept.views.delete(prefix);
  }
}

/** First position whose key is not below `key`. Keys are ASCII but for custom names: compare as the store does, by code point. */
function lowerBound(items: readonly Stored[], key: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
