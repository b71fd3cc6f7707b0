/**
 * What every engine of the versioned store promises, in few calls. The promises are tested by ./contract-suite.ts, which each
 * engine runs, and runs again under injected faults. How an engine keeps them is its own affair.
 *
 * A `type` is a storage group-resource such as `pods` or `deployments.apps`: events.k8s.io and core events share one.
 * A `key` is `namespace/name`, or `name` for cluster-scoped types. Keys of a type are ordered bytewise.
 *
 * Promises, for one type:
 *  - revisions are positive safe integers, handed out in increasing order; a revision names at most one change
 *  - an acknowledged write survives a crash; a write that was not acknowledged happened whole or not at all
 *  - read and scan without `at` are linearizable; a scan is the exact state of the type at the revision it returns
 *  - log and subscribe deliver each change after `from` exactly once, in order of revision, or say Compacted
 */

export type Revision = number;

/** What selectors ask for, kept beside the image so that nobody has to parse the image to filter. */
export interface Index {
  labels?: Readonly<Record<string, string>>;
  /** Selectable fields by their name in field selectors, `metadata.name` and `metadata.namespace` left out. */
  fields?: Readonly<Record<string, string>>;
}

export interface Stored {
  key: string;
  /** The change that made this image. */
  revision: Revision;
  /** The encoded object, resourceVersion included. Never mutate it: it may be shared with a cache or a memory map. */
  image: Uint8Array;
  index: Index;
}

export type Operation = 'create' | 'update' | 'delete';

export interface Change extends Stored {
  operation: Operation;
  /** The revision of the image that this one replaced; 0 for a create. */
  previousRevision: Revision;
  /** The index of the image that this one replaced: selector transitions need it. */
  previousIndex?: Index;
  /** The image that this one replaced, where the engine has it at hand; a selector that lets go of an object shows it once more. */
  previousImage?: Uint8Array;
  /** When the change was committed, ms since the epoch. Not monotonic. */
  time: number;
}

export interface Write {
  type: string;
  key: string;
  /** `absent`: create. A revision: replace or delete exactly that image. */
  expected: 'absent' | Revision;
  /** `put` stores the image; `delete` removes the object and logs the image as its last state. */
  operation: 'put' | 'delete';
  /** Encodes the image once its revision is known. Must be pure and quick: an engine may call it inside a transaction, or again. */
  encode(revision: Revision): Uint8Array;
  index: Index;
  /**
   * What must hold between the write's reservation and its commit, such as a namespace that takes new content. Asked by engines with
   * sessions only: after the reservation they read the epoch, tell the subscribers of configuration what is new, and ask. False:
   * ConfigurationMoved, nothing written.
   */
  guard?(): Promise<boolean>;
  /**
   * Gives up, with Unavailable, when nothing was attempted by then. ms since the epoch. An engine over a service does nothing any more after
   * it, and begins to wind up before: it answers OutcomeUnknown where too little time is left to find out.
   */
  deadline?: number;
}

export interface ScanOptions {
  /** Only keys that start with this: `namespace/`, or the empty string for all. */
  prefix: string;
  /** Only keys after this one (exclusive, bytewise). */
  after?: string;
  /** At most this many items; unlimited when absent. */
  limit?: number;
  /** The state at exactly this revision instead of the newest. */
  at?: Revision;
  /** Only items for which this holds count toward `limit`. Called with stored items in key order. */
  filter?: (item: Stored) => boolean;
}

export interface Scan {
  /** The revision of the snapshot: `at`, or the newest of the type (below its first change when nothing was ever written; 0 only in a store that others do not write). */
  revision: Revision;
  items: Stored[];
  /** More keys of the prefix stand behind the last item. */
  more: boolean;
  /** Keys of the prefix behind the last item, when `more`. Unfiltered; exact where cheap, an estimate on huge collections. */
  remaining?: number;
}

export interface Subscription {
  /** Stops delivery; the listener is not called again. Idempotent. */
  close(): void;
}

export interface Subscriber {
  /**
   * Changes in order. `through`: everything up to this revision has now been delivered (advances without changes too: a subscriber
   * that had nothing to catch up with is told so by an empty batch).
   */
  changes(changes: readonly Change[], through: Revision): void;
  /** The subscription ended by itself: `Compacted` when it fell behind retention, `Unavailable` when the store closed. */
  ended(error: StoreError): void;
}

export interface SubscribeOptions {
  /** Causes no work of its own: told of what the engine learns for other reasons, such as `begin`. In-process engines make no difference. */
  passive?: boolean;
}

export interface Store {
  /**
   * @throws StoreError Exists (create, key taken), Changed (expected revision is not the stored one; `current` when known),
   *   NotFound (replace or delete of an absent key), TooLarge, Unavailable (nothing happened), OutcomeUnknown (it may have)
   */
  append(write: Write): Promise<Stored>;
  read(type: string, key: string): Promise<Stored | undefined>;
  /** @throws StoreError Compacted (`at` is older than retention), Future (`at` is newer than the newest revision) */
  scan(type: string, options: ScanOptions): Promise<Scan>;
  /**
   * The newest revision that a scan would return now. On an engine that delivers in process, a live subscriber (one that has been
   * called with a `through` at or above the head of that moment) has been handed everything up to it: that is a bookmark's revision.
   */
  head(type: string): Promise<Revision>;
  /** Changes in (from, to], oldest first, at most `limit`. @throws StoreError Compacted when `from` is older than retention. */
  log(type: string, from: Revision, to: Revision, limit?: number): Promise<Change[]>;
  /**
   * Delivers every change after `from`, past ones first. Never calls the subscriber before returning.
   * @throws StoreError Compacted when `from` is older than retention. A `from` in the future waits for it: changes up to it are not delivered.
   */
  subscribe(type: string, from: Revision, subscriber: Subscriber, options?: SubscribeOptions): Promise<Subscription>;
  /** Changes at or below this can no longer be read: `log` and `scan at` below it say Compacted. */
  compactedThrough(type: string): Promise<Revision>;
  /** Forgets history at or below `through` (all types), keeping every live image. Never compacts beyond the head. */
  compact(through: Revision): Promise<void>;
  /** Forgets history older than `before` (ms since the epoch). Returns the revision compacted through. */
  compactBefore(before: number): Promise<Revision>;
  /**
   * What an engine over a service has to do beside its calls: to close logs, forget what is older than it serves, sweep what was left.
   * Stops after `budgetMs`; the next call goes on. Where it exists it stands in for compactBefore.
   */
  maintain?(budgetMs?: number): Promise<void>;
  /** Types that hold at least one object, with how many. */
  counts(): Promise<Map<string, number>>;
  /** An independent in-memory store with the same content and history. */
  fork(): Promise<Store>;
  /**
   * For engines whose data other processes write as well; one that owns its data has none, since its subscribers are never behind.
   *
   * Resolves when subscribers of configuration types (./configuration.ts) have been told of everything that was acknowledged before the
   * call: what decides requests is exact. `ahead` is read in the same round trip, and answers the session's first read of that key or,
   * without a key, its first scan's or head's question for the state of the type's log.
   * `optimistic` costs nothing here: the check comes with the first append, between its reservation and its commit, or with `confirm`,
   * and says ConfigurationMoved when anything has changed since `begin`; the subscribers know by then, and the caller begins again.
   * `deadline`: of all its writes, and of reading its objects; nobody waits for it after that. ms since the epoch.
   */
  begin?(options: {ahead?: {type: string; key?: string}; optimistic?: boolean; deadline?: number}): Promise<Session>;
  close(): Promise<void>;
}

/** A store as one request sees it. */
export interface Session extends Store {
  /** The check of an optimistic session that has not appended; nothing otherwise. @throws StoreError ConfigurationMoved */
  confirm(): Promise<void>;
}

export type StoreErrorCode =
  | 'Exists'
  | 'Changed'
  | 'NotFound'
  | 'Compacted'
  | 'Future'
  | 'TooLarge'
  | 'Unavailable'
  | 'OutcomeUnknown'
  | 'ConfigurationMoved'
  | 'NewerFormat'
  | 'InUse'
  | 'Corrupt';

/** The only error an engine throws on purpose. HTTP words are chosen above it, engine words end below it. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  /** For Changed and Exists: what is stored, where the engine knows it without another read. */
  readonly current?: Stored;
  /** For Compacted: the oldest revision that can still be asked for. For Future: the newest there is. */
  readonly revision?: Revision;

  constructor(code: StoreErrorCode, message: string, detail: {current?: Stored; revision?: Revision; cause?: unknown} = {}) {
    super(message, {cause: detail.cause});
    this.name = 'StoreError';
    this.code = code;
    if (detail.current) this.current = detail.current;
    if (detail.revision !== undefined) this.revision = detail.revision;
  }
}

export const isStoreError = (error: unknown, code?: StoreErrorCode): error is StoreError =>
  error instanceof StoreError && (code === undefined || error.code === code);
