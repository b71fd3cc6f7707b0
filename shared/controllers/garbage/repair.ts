/** Brings the index of owners in line with the objects that there are: rings that were lost left something out, late ones something too much. */
import type {Client} from '../../client/client.ts';
import {isReason} from '../../errors.ts';
import {groupVersion} from '../../object.ts';
import type {Catalogue} from '../../registry/catalogue.ts';
import {inTurn} from './in-turn.ts';
import type {OwnerIndex, Reference} from './owner-index.ts';
import {keyOf, parseKey, references, type Tied, tiedOf} from './tied.ts';

/** `ties`: of all objects, as they were a moment ago. Answers how many entries were added, and how many taken back. */
export async function repairIndex(
  index: OwnerIndex,
  ties: Iterable<Tied>,
  client: Client,
  catalogue: Catalogue,
): Promise<{added: number; retracted: number}> {
  const left = new Map((await index.all()).map((reference) => [idOf(reference), reference]));
  const missing: Omit<Reference, 'revision'>[] = [];
  for (const node of ties) {
    for (const {uid: owner} of node.owners) {
      const reference = {owner, type: node.type, key: keyOf(node), uid: node.uid};
      if (!left.delete(idOf(reference))) missing.push(reference);
    }
  }
  // Noted by what the object is now, whatever it was when the others were read.
  const noted = async (reference: Omit<Reference, 'revision'>): Promise<boolean> => {
    const now = await read(reference);
    if (now?.uid !== reference.uid || !references(now, reference.owner)) return false;
    await index.note({...reference, revision: Number(now.resourceVersion)}, true);
    return true;
  };
  const read = async ({type, key}: Pick<Reference, 'type' | 'key'>): Promise<Tied | undefined> => {
    const resource = catalogue.byType(type);
    if (!resource) return undefined;
    const {name, namespace} = parseKey(key);
    try {
      return tiedOf(type, await client.get({groupVersion: groupVersion(resource), resource: resource.resource, namespace}, name));
    } catch (error) {
      if (isReason(error, 'NotFound')) return undefined;
      throw error;
    }
  };
  let added = 0;
  let retracted = 0;
  await inTurn(missing, async (reference) => {
    if (await noted(reference)) added++;
  });
  await inTurn([...left.values()], async (reference) => {
    // In this order: who names the owner anew finds the entry gone, and notes it; who did before is seen here.
    await index.retract(reference);
    if (!(await noted(reference))) retracted++;
  });
  return {added, retracted};
}

const idOf = ({owner, type, key, uid}: Omit<Reference, 'revision'>): string => `${owner} ${type} ${key} ${uid}`;
