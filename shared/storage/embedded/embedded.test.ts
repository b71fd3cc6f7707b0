/** The contract, on both backings of the embedded engine, plain and behind faults. */

import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll} from 'vitest';
import type {Clock} from '../../clock.ts';
import type {Store} from '../contract.ts';
import {storeContract} from '../contract-suite.ts';
import {faulty, patient} from '../faults.ts';
import {openEmbedded, openMemory} from './open.ts';

const folders: string[] = [];

async function onDisk(clock: Clock): Promise<Store> {
  const path = await mkdtemp(join(tmpdir(), 'store-'));
  folders.push(path);
  return openEmbedded({path, clock});
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, {recursive: true, force: true});
});

storeContract({name: 'memory', open: (clock) => openMemory({clock})});
storeContract({name: 'LMDB', open: onDisk});
storeContract({name: 'LMDB without a cache', open: async (clock) => openEmbedded({path: (await madeFolder())!, clock, cacheBytes: 0})});
for (const seed of [1, 2, 3])
  storeContract({name: `memory, with faults from seed ${seed}`, open: async (clock) => patient(faulty(await openMemory({clock}), seed))});
storeContract({name: 'LMDB, with faults', open: async (clock) => patient(faulty(await onDisk(clock), 4))});

async function madeFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'store-'));
  folders.push(path);
  return path;
}
