/**
 * Claims on things of which there is only one: the creation of a record under its key is the lock, so several servers over one store never
 * hand out the same address or port. An address is claimed by its IPAddress object, a node port by a record that no API serves.
 */
import {ipFamily} from '../../kinds/common/ip.ts';
import {rfc3339} from '../../kinds/common/time.ts';
import type {KubeObject} from '../../object.ts';
import {isStoreError, type Store} from '../../storage/contract.ts';
import {imageEncoder} from '../encode.ts';

export interface Owner {
  namespace: string;
  name: string;
}

export interface Claims {
  /** False when somebody else has it. */
  claim(key: string, owner: Owner): Promise<boolean>;
  /** Idempotent. */
  release(key: string): Promise<void>;
  /** All keys that are taken, with their owners. */
  taken(): Promise<ReadonlyMap<string, Owner>>;
}

export const addressType = 'ipaddresses.networking.k8s.io';
/** Not the name of any resource: nothing serves it. */
export const nodePortType = 'servicenodeports.internal';

interface ClaimsOptions {
  store: Store;
  type: string;
  /** Wall time, ms since the epoch. */
  now(): number;
  record(key: string, owner: Owner, now: number): KubeObject;
  ownerOf(record: KubeObject): Owner;
}

function storeClaims({store, type, now, record, ownerOf}: ClaimsOptions): Claims {
  const decoder = new TextDecoder();
  const decode = (image: Uint8Array): KubeObject => JSON.parse(decoder.decode(image)) as KubeObject;
  return {
    async claim(key, owner) {
      const object = record(key, owner, now());
      try {
        await store.append({type, key, expected: 'absent', operation: 'put', encode: imageEncoder(object), index: {}});
        return true;
      } catch (error) {
        if (isStoreError(error, 'Exists')) return false;
        throw error;
      }
    },
    async release(key) {
      const stored = await store.read(type, key);
      if (!stored) return;
      const last = decode(stored.image);
      try {
        await store.append({type, key, expected: stored.revision, operation: 'delete', encode: imageEncoder(last), index: {}});
      } catch (error) {
        // Somebody else was faster; it is gone or claimed anew.
        if (!isStoreError(error, 'NotFound') && !isStoreError(error, 'Changed')) throw error;
      }
    },
    async taken() {
      const {items} = await store.scan(type, {prefix: ''});
      return new Map(items.map(({key, image}) => [key, ownerOf(decode(image))]));
    },
  };
}

export const addressClaims = (store: Store, now: () => number): Claims =>
  storeClaims({
    store,
    type: addressType,
    now,
    record: (key, {namespace, name}, time) => ({
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: {
        name: key,
        uid: crypto.randomUUID(),
        creationTimestamp: rfc3339(time),
        labels: {
          'ipaddress.kubernetes.io/ip-family': ipFamily(key),
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: {parentRef: {resource: 'services', namespace, name}},
    }),
    ownerOf: ({spec}) => ({namespace: spec?.parentRef?.namespace ?? '', name: spec?.parentRef?.name ?? ''}),
  });

export const nodePortClaims = (store: Store, now: () => number): Claims =>
  storeClaims({
    store,
    type: nodePortType,
    now,
    record: (key, owner, time) => ({
      kind: 'NodePort',
      apiVersion: 'internal/v1',
      metadata: {name: key, creationTimestamp: rfc3339(time)},
      spec: {...owner},
    }),
    ownerOf: ({spec}) => ({namespace: spec?.namespace ?? '', name: spec?.name ?? ''}),
  });
