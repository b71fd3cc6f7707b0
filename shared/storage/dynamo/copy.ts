/** A copy of a store in the memory engine: what is there now, and the history that is kept. */

import type {Clock} from '../../clock.ts';
import type {Revision, Store} from '../contract.ts';
import type {Version} from '../embedded/backing.ts';

/**
 * The memory engine has one counter where the original has one for each group: the copy's head is the highest of them, and it forgets
 * what any group has forgotten.
 */
export async function copyToMemory(store: Store, types: readonly string[], clock: Clock): Promise<Store> {
  const [{Engine}, {MemoryBacking}] = await Promise.all([import('../embedded/engine.ts'), import('../embedded/memory.ts')]);
  const versions: {type: string; version: Version}[] = [];
  let head: Revision = 0;
  let compactedThrough: Revision = 0;
  for (const type of types) {
    const from = await store.compactedThrough(type);
    const base = await store.scan(type, {prefix: '', at: from});
    const to = await store.head(type);
    const changes = await store.log(type, from, to);
    for (const stored of base.items) versions.push({type, version: {stored, operation: 'create', previousRevision: 0, time: 0}});
    for (const {key, revision, image, index, operation, previousRevision, time} of changes)
      versions.push({type, version: {stored: {key, revision, image, index}, operation, previousRevision, time}});
    head = Math.max(head, to);
    compactedThrough = Math.max(compactedThrough, from);
  }
  const backing = new MemoryBacking();
  backing.commit({versions, forget: [], state: {head, compactedThrough, sweptThrough: compactedThrough}}, () => {});
  return new Engine(backing, {clock});
}
