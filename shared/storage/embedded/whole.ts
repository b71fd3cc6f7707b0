/**
 * Looks at an LMDB file before LMDB does: a file that is something else, or that lost its end, would take the process down with it
 * (reading a page that is not there is a bus error, not an exception).
 *
 * A file begins with two root pages. In each, behind the page's header: magic u32, version u32, address u64, map size u64, two tables
 * of 48 bytes (the first begins with the page size, u32), last page u64, transaction u64; little-endian.
 */

import {open} from 'node:fs/promises';
import {StoreError} from '../contract.ts';

const magic = Buffer.from([0xde, 0xc0, 0xef, 0xbe]);
const maxHeaderBytes = 24;
const pageSizeAt = 24;
const lastPageAt = 120;
const transactionAt = 128;
/** Two pages of the largest size that LMDB uses. */
const headBytes = 2 * 65_536;
/** Pages that LMDB may have counted at the end of the file without ever writing them. */
const unwrittenPages = 64;

/** @throws StoreError Corrupt. A file that is absent or empty is a new one, and whole. */
export async function assertWhole(path: string): Promise<void> {
  const corrupt = (why: string): StoreError => new StoreError('Corrupt', `${path} is not a readable store: ${why}`);
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return;
  try {
    const {size} = await file.stat();
    if (size === 0) return;
    const {buffer, bytesRead} = await file.read(Buffer.alloc(Math.min(size, headBytes)), 0);
    const head = buffer.subarray(0, bytesRead);
    const first = head.indexOf(magic);
    if (first < 0 || first > maxHeaderBytes || head.length < first + transactionAt + 8) throw corrupt('it does not begin like one');
    const pageBytes = head.readUInt32LE(first + pageSizeAt);
    const roots = [first, first + pageBytes].filter((at) => head.length >= at + transactionAt + 8 && head.indexOf(magic, at) === at);
    const newest = roots.sort((a, b) => Number(head.readBigUInt64LE(b + transactionAt) - head.readBigUInt64LE(a + transactionAt)))[0]!;
    const lastPage = Number(head.readBigUInt64LE(newest + lastPageAt));
    if (size < (lastPage + 1 - unwrittenPages) * pageBytes) throw corrupt(`it ends after ${size} bytes, before page ${lastPage}`);
  } finally {
    await file.close();
  }
}
