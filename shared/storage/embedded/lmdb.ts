/**
 * The engine's data in LMDB, one folder, one process.
 *
 *     versions  type \0 revision    -> the version (record.ts); every image is written once, here
 *     objects   type \0 key         -> the revision of the live version
 *     counts    type \0 prefix      -> live keys under it: all of the type, and by namespace
 *     meta      'state'             -> format, head, compactedThrough, sweptThrough
 *
 * Durability: LMDB's own commit writes the pages, syncs them, and only then writes the new root through a descriptor that syncs by
 * itself; readers see the new root after that. So a commit is durable when it is visible, and visible when it is answered. That is
 * `overlappingSync: false`; with lmdb's default a commit is seen before it is on disk, and reads would have to be held back.
 */

import type {Database, RootDatabase, Transaction} from 'lmdb';
import type {Revision} from '../contract.ts';
import {type Backing, type Commit, countChange, countedPrefixes, type State, sortKey, type Version, type View} from './backing.ts';
import {MemoryBacking} from './memory.ts';
import {Recent} from './recent.ts';
import {decodeVersion, encodeVersion} from './record.ts';

/** Written into each store; a higher one was written by a later release. */
export const storeFormat = 1;

export interface Meta extends State {
  format: number;
}

interface RevisionKey {
  type: string;
  revision: Revision;
}

interface Tables {
  versions: Database<Buffer, RevisionKey & never>;
  objects: Database<Buffer, string>;
  counts: Database<Buffer, string>;
  meta: Database<Buffer, string>;
}

/** lmdb's own, missing from its types. getBinaryFast leaves its answer in a shared buffer, and its size in lastSize. */
interface FastReads {
  lastSize: number;
  getBinaryFast(key: unknown, options?: {transaction: Transaction}): Buffer | undefined;
  getBinary(key: unknown, options?: {transaction: Transaction}): Buffer | undefined;
}
const fast = (table: object): FastReads => table as FastReads;

/** Node's own, missing from its types. */
const latin1Write = (target: Buffer, text: string, position: number): number =>
  (target as unknown as {latin1Write(text: string, position: number): number}).latin1Write(text, position);

export function openTables(root: RootDatabase): Tables {
  const textKeys = {encoding: 'binary' as const, keyEncoder: textKey};
  return {
    versions: root.openDB({name: 'versions', encoding: 'binary', ...{keyEncoder: revisionKey}}),
    objects: root.openDB({name: 'objects', ...textKeys}),
    counts: root.openDB({name: 'counts', ...textKeys}),
    meta: root.openDB({name: 'meta', ...textKeys}),
  };
}

export function readMeta(tables: Tables, options?: {transaction: Transaction}): Meta | undefined {
  const bytes = fast(tables.meta).getBinary('state', options);
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as Meta);
}

export class LmdbBacking implements Backing {
  readonly grouped = true;
  readonly #root: RootDatabase;
  readonly #tables: Tables;
  readonly #recent: Recent;
  readonly #release: () => Promise<void>;
  #state: State;
  #held = 0;
  #allReleased = (): void => {};

  /** `release` gives up the folder, after everything is closed. */
  constructor(root: RootDatabase, tables: Tables, state: State, cacheBytes: number, release: () => Promise<void>) {
    this.#root = root;
    this.#tables = tables;
    this.#state = state;
    this.#recent = new Recent(cacheBytes);
    this.#release = release;
  }

  get state(): State {
    return this.#state;
  }

  view(type: string, hold: boolean): LmdbView {
    if (!hold) return new LmdbView(this.#tables, this.#recent, type, undefined, () => {});
    const transaction = this.#root.useReadTransaction();
    this.#held++;
    return new LmdbView(this.#tables, this.#recent, type, transaction, () => {
      transaction.done();
      if (--this.#held === 0) this.#allReleased();
    });
  }

  async commit({versions, forget, state}: Commit, published: () => void): Promise<void> {
    const tables = this.#tables;
    const counts = this.#countsAfter(versions);
    const meta: Meta = {format: storeFormat, ...state};
    try {
      await this.#root.batch(() => {
        for (const {type, version} of versions) {
          const {key, revision} = version.stored;
          tables.versions.put({type, revision} as never, encodeVersion(version));
          const id = objectKey(type, sortKey(key));
          if (version.operation === 'delete') tables.objects.remove(id);
          else tables.objects.put(id, pointerTo(revision));
        }
        for (const {type, revision} of forget) tables.versions.remove({type, revision} as never);
        for (const [id, count] of counts) tables.counts.put(id, pointerTo(count));
        tables.meta.put('state', Buffer.from(JSON.stringify(meta)));
      });
    } catch (error) {
      throw await commitError(error);
    }
    // A read earlier in this turn may have left its transaction, of before the commit, to be used again.
    this.#root.resetReadTxn();
    this.#state = state;
    for (const {version} of versions) this.#recent.add(version);
    for (const {revision} of forget) this.#recent.delete(revision);
    published();
  }

  isUntouched(error: unknown): boolean {
    return /MDB_MAP_FULL|MDB_TXN_FULL|MDB_PANIC|No space left|ENOSPC/.test(String(error));
  }

  /** LMDB goes back to the former root when a commit fails, and refuses everything (MDB_PANIC) when it could not. */
  isUsable(): boolean {
    this.#root.resetReadTxn();
    return (readMeta(this.#tables)?.head ?? 0) === this.#state.head;
  }

  types(): Map<string, number> {
    const types = new Map<string, number>();
    for (const {key, value} of this.#tables.counts.getRange({start: '\0'})) {
      const [type, prefix] = key.split('\0');
      if (prefix === '') types.set(type!, revisionAt(Buffer.from(value)));
    }
    return types;
  }

  fork(): Backing {
    const memory = new MemoryBacking();
    const versions: {type: string; version: Version}[] = [];
    for (const type of this.types().keys()) {
      const view = this.view(type, false);
      for (const version of view.history(0, this.#state.head)) versions.push({type, version});
    }
    versions.sort((a, b) => a.version.stored.revision - b.version.stored.revision);
    memory.commit({versions, forget: [], state: this.#state}, () => {});
    return memory;
  }

  async close(): Promise<void> {
    // Memory that a view still reads must not be unmapped.
    if (this.#held > 0)
      await new Promise<void>((resolve) => {
        this.#allReleased = resolve;
      });
    await this.#root.close();
    await this.#release();
  }

  #countsAfter(versions: Commit['versions']): Map<string, number> {
    const counts = new Map<string, number>();
    for (const {type, version} of versions) {
      const change = countChange(version);
      if (change === 0) continue;
      for (const prefix of countedPrefixes(version.stored.key)) {
        const id = objectKey(type, sortKey(prefix));
        counts.set(id, (counts.get(id) ?? countAt(this.#tables, id)) + change);
      }
    }
    return counts;
  }
}

class LmdbView implements View {
  readonly #tables: Tables;
  readonly #recent: Recent;
  readonly #type: string;
  readonly #release: () => void;
  readonly #options: {transaction: Transaction} | undefined;

  constructor(tables: Tables, recent: Recent, type: string, transaction: Transaction | undefined, release: () => void) {
    this.#tables = tables;
    this.#recent = recent;
    this.#type = type;
    this.#release = release;
    this.#options = transaction && {transaction};
  }

  get(key: string): Version | undefined {
    const pointer = fast(this.#tables.objects).getBinaryFast(objectKey(this.#type, sortKey(key)), this.#options);
    return pointer && this.#read(revisionAt(pointer), true);
  }

  version(revision: Revision): Version | undefined {
    return this.#read(revision, false);
  }

  *live(from: string, exclusive: boolean): IterableIterator<Version> {
    const range = this.#tables.objects.getRange({
      start: objectKey(this.#type, from),
      end: `${this.#type}\x01`,
      ...(exclusive && {exclusiveStart: true}),
      ...this.#options,
    });
    for (const {value} of range) yield this.#read(revisionAt(value), true)!;
  }

  *history(after: Revision, through: Revision): IterableIterator<Version> {
    const range = this.#tables.versions.getKeys({
      start: {type: this.#type, revision: after + 1} as never,
      end: {type: this.#type, revision: through + 1} as never,
      ...this.#options,
    });
    // Not kept in the cache: who reads history reads it once.
    for (const {revision} of range) yield this.#read(revision, false)!;
  }

  count(prefix: string): number | undefined {
    if (prefix !== '' && prefix.indexOf('/') !== prefix.length - 1) return undefined;
    return countAt(this.#tables, objectKey(this.#type, sortKey(prefix)), this.#options);
  }

  countBehind(from: string, prefix: string, limit: number): number {
    // No UTF-8 text contains this byte: the end of everything that begins with the prefix.
    const end = `${objectKey(this.#type, sortKey(prefix))}\xff`;
    const start = objectKey(this.#type, from);
    let count = 0;
    for (const _key of this.#tables.objects.getKeys({start, end, limit, ...{exclusiveStart: true}, ...this.#options})) count++;
    return count;
  }

  shows(head: Revision): boolean {
    return (readMeta(this.#tables, this.#options)?.head ?? 0) >= head;
  }

  release(): void {
    this.#release();
  }

  #read(revision: Revision, keep: boolean): Version | undefined {
    const known = this.#recent.get(revision);
    if (known) return known;
    const versions = fast(this.#tables.versions);
    const bytes = versions.getBinaryFast({type: this.#type, revision}, this.#options);
    if (!bytes) return undefined;
    const version = decodeVersion(bytes, versions.lastSize, revision);
    if (keep) this.#recent.add(version);
    return version;
  }
}

const objectKey = (type: string, key: string): string => `${type}\0${key}`;

function pointerTo(revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  writeRevision(bytes, 0, revision);
  return bytes;
}

const revisionAt = (bytes: Uint8Array, at = 0): Revision =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) * 0x1_0000_0000 +
  (((bytes[at + 4]! << 24) | (bytes[at + 5]! << 16) | (bytes[at + 6]! << 8) | bytes[at + 7]!) >>> 0);

function writeRevision(bytes: Uint8Array, at: number, revision: Revision): void {
  const high = Math.floor(revision / 0x1_0000_0000);
  for (let i = 0; i < 4; i++) {
    bytes[at + i] = high >>> (24 - 8 * i);
    bytes[at + 4 + i] = revision >>> (24 - 8 * i);
  }
}

function countAt(tables: Tables, id: string, options?: {transaction: Transaction}): number {
  const bytes = fast(tables.counts).getBinaryFast(id, options);
  return bytes ? revisionAt(bytes) : 0;
}

/** Keys as their bytes, without a buffer of their own. Too long for the target must throw RangeError: lmdb then makes room. */
const textKey = {
  writeKey(key: string, target: Buffer, position: number): number {
    if (position + key.length > target.length) throw new RangeError('key');
    return position + latin1Write(target, key, position);
  },
  readKey: (target: Buffer, start: number, end: number): string => target.toString('latin1', start, end),
};

const revisionKey = {
  writeKey({type, revision}: RevisionKey, target: Buffer, position: number): number {
    if (position + type.length + 9 > target.length) throw new RangeError('key');
    const end = position + latin1Write(target, type, position);
    target[end] = 0;
    writeRevision(target, end + 1, revision);
    return end + 9;
  },
  readKey: (target: Buffer, _start: number, end: number) => ({revision: revisionAt(target, end - 8)}),
};

/** lmdb rejects writes with a general error, and tells the cause in a promise of its own. */
async function commitError(error: unknown): Promise<unknown> {
  const cause = (error as {commitError?: Promise<unknown>}).commitError;
  if (!cause) return error;
  const late = new Promise((resolve) => setTimeout(resolve, 100, error));
  return Promise.race([cause.catch((reason: unknown) => reason), late]);
}
