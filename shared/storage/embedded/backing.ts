/**
 * What the engine asks of the thing that holds its data: ordered reads of one moment, and commits that are durable when they are
 * answered. Two of them exist, memory.ts and lmdb.ts. Judging, ordering, history and delivery are the engine's (engine.ts).
 */

import type {Operation, Revision, Stored} from '../contract.ts';

/** An image with the change that made it. Immutable, and kept until its successor is compacted. */
export interface Version {
  readonly stored: Stored;
  readonly operation: Operation;
  /** The version that this one replaced; 0 for a create. */
  readonly previousRevision: Revision;
  readonly time: number;
}

/** One moment of one type. Every read of a view is of the same moment, also across turns of the event loop when it is held. */
export interface View {
  get(key: string): Version | undefined;
  /** A version that is still kept, live or superseded. */
  version(revision: Revision): Version | undefined;
  /** Live versions from `sortKey` on, in key order. */
  live(sortKey: string, exclusive: boolean): IterableIterator<Version>;
  /** Kept versions of (after, through] in revision order. */
  history(after: Revision, through: Revision): IterableIterator<Version>;
  /** Live keys under a counted prefix (see countedPrefixes); undefined for any other prefix. */
  count(prefix: string): number | undefined;
  /** Live keys of a prefix behind `sortKey`, counted one by one up to `limit`. */
  countBehind(sortKey: string, prefix: string, limit: number): number;
  /** Whether this moment is after the commit with this head. Asked only while that commit is under way. */
  shows(head: Revision): boolean;
  release(): void;
}

export interface Commit {
  /** In revision order. */
  versions: readonly {type: string; version: Version}[];
  /** Superseded versions and deletions to forget. */
  forget: readonly {type: string; revision: Revision}[];
  state: State;
}

export interface State {
  /** The newest revision. Handed out once, whatever is compacted later. */
  head: Revision;
  compactedThrough: Revision;
  /** Everything superseded at or below this is gone; between this and compactedThrough a sweep is due. */
  sweptThrough: Revision;
}

export interface Backing {
  /** Commits cost much by themselves and little per write: worth waiting a moment for more writes. */
  readonly grouped: boolean;
  readonly state: State;
  /** `hold`: the view outlives this turn of the event loop; it must be released. */
  view(type: string, hold: boolean): View;
  /**
   * Calls `published` when the commit is durable, in the turn in which `state` becomes the new one; answers after that, or with
   * undefined when it was at once. Views show it no earlier than it is durable, but perhaps a moment before `published`.
   */
  commit(commit: Commit, published: () => void): Promise<void> | undefined;
  /** Whether a failed commit certainly left nothing behind. */
  isUntouched(error: unknown): boolean;
  /** Whether, after a failed commit, views are still of `state`, so that writing can go on. */
  isUsable(): boolean;
  /** Every type that has live objects or history, with its number of live objects. */
  types(): Map<string, number>;
  /** The same content in memory, independent from now on. */
  fork(): Backing;
  close(): Promise<void>;
}

/** JavaScript orders strings by UTF-16 units, the contract by bytes: one char per UTF-8 byte makes them the same. */
export const sortKey = (key: string): string => (/^[\0-\x7f]*$/.test(key) ? key : Buffer.from(key, 'utf8').toString('latin1'));

/** The prefixes of a key for which live keys are counted: all of the type, and its namespace. */
export function countedPrefixes(key: string): string[] {
  const slash = key.indexOf('/');
  return slash < 0 ? [''] : ['', key.slice(0, slash + 1)];
}

/** How a version changes the number of live keys. */
export const countChange = (version: Version): number => ({create: 1, update: 0, delete: -1})[version.operation];
