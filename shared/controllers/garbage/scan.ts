/** Who depends on an owner, read from the store itself: every collection in which a dependent may be, exact and without an index. */
import {ties} from '../../changes/object-cache.ts';
import type {Catalogue} from '../../registry/catalogue.ts';
import type {Store} from '../../storage/contract.ts';
import {inTurn} from './in-turn.ts';
import {isCollected, references, type Tied, tiedOf} from './tied.ts';

export async function dependentsIn(store: Store, catalogue: Catalogue, owner: Tied): Promise<Tied[]> {
  // Dependents of what is in a namespace are there as well.
  const types = [...catalogue.stored()].filter(
    (resource) => isCollected(resource) && (owner.namespace === undefined || resource.namespaced),
  );
  const prefix = owner.namespace === undefined ? '' : `${owner.namespace}/`;
  const mark = Buffer.from(JSON.stringify(owner.uid));
  const found: Tied[] = [];
  await inTurn(types, async ({storageType}) => {
    const {items} = await store.scan(storageType, {prefix});
    for (const {key, image} of items) {
      if (!Buffer.from(image.buffer, image.byteOffset, image.byteLength).includes(mark)) continue;
      const node = tiedOf(storageType, ties(key, image)!);
      if (references(node, owner.uid)) found.push(node);
    }
  });
  return found;
}
