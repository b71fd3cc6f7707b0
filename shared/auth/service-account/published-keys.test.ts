import {expect, test} from 'vitest';
import {ObjectCaches} from '../../changes/object-cache.ts';
import type {Store} from '../../storage/contract.ts';
import {openMemory} from '../../storage/embedded/open.ts';
import {signingKey, type VerificationKey} from './keys.ts';
import {shareKeys} from './published-keys.ts';

/** As of an engine that shares its data. */
function shared(inner: Store): Store {
  const store: Store = Object.assign(Object.create(inner), {begin: async () => inner});
  for (const name of ['append', 'read', 'scan', 'subscribe', 'head', 'log'] as const)
    Object.assign(store, {[name]: inner[name].bind(inner)});
  return store;
}

test('servers over one store learn to verify what the others sign', async () => {
  const store = shared(await openMemory());
  const [one, other] = [signingKey(), signingKey()];
  const keysOfOne: VerificationKey[] = [one];
  const keysOfOther: VerificationKey[] = [other];
  await shareKeys(store, new ObjectCaches(store), one, keysOfOne);
  await shareKeys(store, new ObjectCaches(store), other, keysOfOther);
  await shareKeys(store, new ObjectCaches(store), other, []);
  expect(keysOfOne.map(({id}) => id)).toEqual([one.id, other.id]);
  expect(keysOfOther.map(({id}) => id).sort()).toEqual([one.id, other.id].sort());
});

test('a server that owns its store publishes nothing', async () => {
  const store = await openMemory();
  const own = signingKey();
  await shareKeys(store, new ObjectCaches(store), own, [own]);
  expect((await store.counts()).size).toBe(0);
});

test('whoever finds its key published writes nothing', async () => {
  const store = shared(await openMemory());
  const own = signingKey();
  await shareKeys(store, new ObjectCaches(store), own, [own]);
  const keys: VerificationKey[] = [own];
  const readOnly = Object.assign(Object.create(store) as Store, {append: () => Promise.reject(new Error('not permitted'))});
  await shareKeys(readOnly, new ObjectCaches(store), own, keys);
  expect(keys.map(({id}) => id)).toEqual([own.id]);
});
