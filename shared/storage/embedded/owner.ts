/**
 * One process per folder. The claim is a read transaction on a tiny LMDB file of its own: LMDB keeps a table of readers, each held by
 * a lock of the operating system, so a claim ends with its process however that ends, and needs no judging of process ids.
 */

import type {open as openLmdb} from 'lmdb';
import {StoreError} from '../contract.ts';

/** @throws StoreError InUse when another process, or this one, holds the folder. @returns what gives it up. */
export async function claim(open: typeof openLmdb, file: string): Promise<() => Promise<void>> {
  const root = open({path: file, noSubdir: true, maxDbs: 1, mapSize: 1 << 20, overlappingSync: false});
  const taken = readers(root.readerList());
  if (taken.length > 0) {
    await root.close();
    throw inUse(file, taken);
  }
  const claimed = root.useReadTransaction();
  const all = readers(root.readerList());
  if (all.length > 1) {
    // Two came at the same time. Both step back: neither can know who was first.
    claimed.done();
    await root.close();
    throw inUse(file, all);
  }
  return async () => {
    claimed.done();
    await root.close();
  };
}

/** The process ids in lmdb's listing, one row per reader under a heading. */
const readers = (listing: string): string[] => listing.match(/^ *\d+(?= )/gm)?.map((pid) => pid.trim()) ?? [];

const inUse = (file: string, pids: string[]): StoreError => new StoreError('InUse', `${file} is held by process ${pids.join(', ')}`);
