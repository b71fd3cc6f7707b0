/**
 * One subscription of the store for all watchers of a type. A watcher pulls the log until it has caught up and is then handed live
 * events; one encoding of an event serves all of them. What a watcher does with events is in watcher.ts.
 */
import type {Change, Revision, Store, StoreError, Subscription} from '../storage/contract.ts';

export interface LiveWatcher {
  /** The changes of one commit, in order: what a watcher makes of them can leave in one write. */
  offer(events: readonly FeedEvent[]): void;
  ended(error: StoreError): void;
}

/** A change with the encodings that were made of it so far, by a key that the encoder chooses. */
export class FeedEvent {
  readonly change: Change;
  readonly #frames = new Map<string, Uint8Array>();

  constructor(change: Change) {
    this.change = change;
  }

  frame(key: string, encode: (change: Change) => Uint8Array): Uint8Array {
    let frame = this.#frames.get(key);
    if (!frame) {
      frame = encode(this.change);
      this.#frames.set(key, frame);
    }
    return frame;
  }
}

export class Hub {
  readonly #store: Store;
  readonly type: string;
  readonly #watchers = new Set<LiveWatcher>();
  #subscription: Promise<Subscription> | undefined;
  /** Everything up to here has been offered to the watchers in the set. */
  #through: Revision = 0;
  #live = false;
  /** For metrics. */
  onEvents: (events: number, deliveries: number) => void = () => {};

  constructor(store: Store, type: string) {
    this.#store = store;
    this.type = type;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** Whether the store hands over each change as it happens: nothing that it has committed is on its way here. */
  get live(): boolean {
    return this.#live;
  }

  /** Everything up to here has been offered to those who joined; 0 when that cannot be told now. */
  async reached(): Promise<Revision> {
    // A store that others write as well may know of changes that it has yet to hand over: only what it said counts.
    if (this.#store.begin) return this.#through;
    // One that cannot tell its head is about to end the watches.
    const head = await this.#store.head(this.type).catch(() => 0);
    return this.#live ? head : 0;
  }

  /** Changes in (from, to], oldest first. @throws StoreError Compacted */
  past(from: Revision, to: Revision, limit: number): Promise<Change[]> {
    return this.#store.log(this.type, from, to, limit);
  }

  /** Where live delivery stands; the hub subscribes when the first watcher asks. */
  async through(): Promise<Revision> {
    this.#subscription ??= this.#subscribe().catch((error: unknown) => {
      this.#subscription = undefined;
      throw error;
    });
    await this.#subscription;
    return this.#through;
  }

  /** Joins live delivery when nothing lies between `position` and it; false when there is more to pull from the log first. */
  join(watcher: LiveWatcher, position: Revision): boolean {
    // A subscription that has just ended would never tell it of anything.
    if (!this.#subscription || position < this.#through) return false;
    this.#watchers.add(watcher);
    return true;
  }

  leave(watcher: LiveWatcher): void {
    this.#watchers.delete(watcher);
    // Following a store that others write as well costs calls.
    if (this.#store.begin && this.#watchers.size === 0) void this.close();
  }

  async close(): Promise<void> {
    const subscription = this.#subscription;
    this.#subscription = undefined;
    // One that never came to be has nothing to close.
    const opened = await subscription?.catch(() => undefined);
    opened?.close();
  }

  async #subscribe(): Promise<Subscription> {
    const from = await this.#store.head(this.type);
    this.#through = from;
    return this.#store.subscribe(this.type, from, {
      changes: (changes, through) => {
        this.#through = through;
        if (!this.#live) this.#askWhetherLive();
        if (changes.length === 0 || this.#watchers.size === 0) return;
        const events = changes.map((change) => new FeedEvent(change));
        for (const watcher of this.#watchers) watcher.offer(events);
        this.onEvents(changes.length, changes.length * this.#watchers.size);
      },
      ended: (error) => {
        this.#subscription = undefined;
        this.#live = false;
        const watchers = [...this.#watchers];
        this.#watchers.clear();
        for (const watcher of watchers) watcher.ended(error);
      },
    });
  }

  /** A store that has more than one page of the past to tell is not live with the first: bookmarks would run ahead of the rest. */
  #askWhetherLive(): void {
    const through = this.#through;
    const subscription = this.#subscription;
    const judge = (head: Revision): void => {
      if (through >= head && subscription && subscription === this.#subscription) this.#live = true;
    };
    this.#store.head(this.type).then(judge, () => {});
  }
}

/** The hubs of a store, one for each type that somebody watches. */
export class Hubs {
  readonly #store: Store;
  readonly #hubs = new Map<string, Hub>();

  constructor(store: Store) {
    this.#store = store;
  }

  of(type: string): Hub {
    let hub = this.#hubs.get(type);
    if (!hub) {
      hub = new Hub(this.#store, type);
      this.#hubs.set(type, hub);
    }
    return hub;
  }

  all(): IterableIterator<Hub> {
    return this.#hubs.values();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hubs.values()].map((hub) => hub.close()));
  }
}
