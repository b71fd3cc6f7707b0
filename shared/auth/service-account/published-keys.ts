/**
 * Several servers over one store each sign with a key of their own and verify what the others signed: each publishes the public half as a
 * record that no API serves. Private keys never go into the store.
 */
import type {CacheListener} from '../../changes/object-cache.ts';
import {isStoreError, type Store} from '../../storage/contract.ts';
import {type SigningKey, type VerificationKey, verificationKey} from './keys.ts';

/** Not the name of any resource: nothing serves it. */
export const publishedKeyType = 'verificationkeys.internal';

interface Caches {
  of(type: string): Promise<{onChange(listener: CacheListener): void}>;
}

/** From now on `keys` has what the other servers publish as well. A server that owns its store is the only one. */
export async function shareKeys(store: Store, caches: Caches, own: SigningKey, keys: VerificationKey[]): Promise<void> {
  if (!store.begin) return;
  let published = false;
  (await caches.of(publishedKeyType)).onChange((id, record) => {
    published ||= record !== undefined && id === own.id;
    const at = keys.findIndex((key) => key.id === id);
    if (!record) {
      if (at >= 0 && id !== own.id) keys.splice(at, 1);
    } else if (at < 0) keys.push(verificationKey(record.spec?.pem as string));
  });
  // By an earlier start, or by another that has the same key: most may only read. And even a write that is refused moves the configuration,
  // for everybody who is at it.
  if (published) return;
  const record = {
    kind: 'VerificationKey',
    apiVersion: 'internal/v1',
    metadata: {name: own.id},
    spec: {pem: verificationKey(own.privateKey).key.export({type: 'spki', format: 'pem'})},
  };
  const image = Buffer.from(`${JSON.stringify(record)}\n`);
  try {
    await store.append({type: publishedKeyType, key: own.id, expected: 'absent', operation: 'put', encode: () => image, index: {}});
  } catch (error) {
    // Another was quicker.
    if (!isStoreError(error, 'Exists')) throw error;
  }
}
