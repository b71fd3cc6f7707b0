/** The two ways to open the embedded store. LMDB is loaded only by those who ask for it. */

import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {RootDatabase} from 'lmdb';
import type {Clock} from '../../clock.ts';
import {type Store, StoreError} from '../contract.ts';
import {Engine} from './engine.ts';
import {MemoryBacking} from './memory.ts';

export interface EmbeddedOptions {
  /** A folder; made when absent. */
  path: string;
  clock?: Clock;
  /** Decoded versions kept in memory. */
  cacheBytes?: number;
}

/** What is read or written again and again. LMDB's pages are in memory anyway: what is missed here costs a copy, not a disk read. */
const defaultCacheBytes = 4 * 1024 * 1024;
/** Address space, not memory and not disk; LMDB cannot grow past it while it is open. */
const mapBytes = 64 * 1024 ** 3;

/**
 * Of new stores; a store keeps the size that it was made with. A page that is full gives its last record to the next one: where only
 * two of a kilobyte or two fit, half of the file, and of the memory that it is mapped into, would stay empty.
 */
const pageBytes = 8 * 1024;

export async function openMemory(options: {clock?: Clock} = {}): Promise<Store> {
  return new Engine(new MemoryBacking(), options);
}

/**
 * Images come back as copies, valid for as long as anybody holds them.
 * @throws StoreError InUse (another process has the folder), NewerFormat, Corrupt
 */
export async function openEmbedded({path, clock, cacheBytes = defaultCacheBytes}: EmbeddedOptions): Promise<Store> {
  const [{open}, {claim}, {assertWhole}, lmdb] = await Promise.all([
    import('lmdb'),
    import('./owner.ts'),
    import('./whole.ts'),
    import('./lmdb.ts'),
  ]);
  await mkdir(path, {recursive: true});
  const owner = join(path, 'owner.mdb');
  const file = join(path, 'store.mdb');
  await assertWhole(owner);
  const release = await claim(open, owner);
  let root: RootDatabase | undefined;
  try {
    await assertWhole(file);
    root = open({path: file, noSubdir: true, maxDbs: 8, mapSize: mapBytes, overlappingSync: false, pageSize: pageBytes, ...unbatched});
    const tables = lmdb.openTables(root);
    const meta = lmdb.readMeta(tables);
    if (meta && meta.format > lmdb.storeFormat)
      throw new StoreError('NewerFormat', `${path} has format ${meta.format}; this release reads up to ${lmdb.storeFormat}`);
    const state = {
      head: meta?.head ?? 0,
      compactedThrough: meta?.compactedThrough ?? 0,
      sweptThrough: meta?.sweptThrough ?? 0,
    };
    return new Engine(new lmdb.LmdbBacking(root, tables, state, cacheBytes, release), {clock});
  } catch (error) {
    await root?.close();
    await release();
    throw translated(error, path);
  }
}

/** Writes of a turn are grouped by the engine; lmdb's own grouping would add a turn to each commit. Missing from its types. */
const unbatched = {eventTurnBatching: false};

function translated(error: unknown, path: string): unknown {
  if (error instanceof StoreError) return error;
  if (/MDB_INVALID|MDB_CORRUPTED|MDB_PAGE_NOTFOUND|MDB_VERSION_MISMATCH|not a valid LMDB|JSON/i.test(String(error)))
    return new StoreError('Corrupt', `${path} is not a readable store`, {cause: error});
  return error;
}
