/** What the contract's stories are told with. */

import {expect} from 'vitest';
import {type Change, type Index, isStoreError, type Revision, type Store, type Stored, type StoreError} from '../contract.ts';

export const pods = 'pods';

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const textOf = (stored: {image: Uint8Array} | undefined): string | undefined => stored && Buffer.from(stored.image).toString();

/** Images name their revision, as objects do: `7 hello`. */
const encoder =
  (text: string) =>
  (revision: Revision): Uint8Array =>
    bytes(`${revision} ${text}`);

export const create = (store: Store, key: string, text = key, index: Index = {}, type = pods): Promise<Stored> =>
  store.append({type, key, expected: 'absent', operation: 'put', encode: encoder(text), index});

export const update = (store: Store, key: string, expected: Revision, text = key, index: Index = {}, type = pods): Promise<Stored> =>
  store.append({type, key, expected, operation: 'put', encode: encoder(text), index});

export const remove = (store: Store, key: string, expected: Revision, text = key, index: Index = {}, type = pods): Promise<Stored> =>
  store.append({type, key, expected, operation: 'delete', encode: encoder(text), index});

export async function failureOf(promise: Promise<unknown>): Promise<StoreError> {
  try {
    await promise;
  } catch (error) {
    if (isStoreError(error)) return error;
    throw error;
  }
  return expect.fail('it should have failed');
}

export const keysOf = (scan: {items: readonly Stored[]}): string[] => scan.items.map((item) => item.key);

export const told = (changes: readonly Change[]): string[] =>
  changes.map(({operation, key, revision}) => `${operation} ${key} ${revision}`);

/** Waits, turn by turn, for something that is under way. */
export async function until(holds: () => boolean, what = 'it'): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) expect.fail(`${what} did not happen`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A subscriber that remembers what it was told. */
export class Listener {
  readonly seen: Change[] = [];
  through = 0;
  batches = 0;
  error: StoreError | undefined;

  changes(changes: readonly Change[], through: Revision): void {
    this.batches++;
    expect(through).toBeGreaterThanOrEqual(this.through);
    for (const change of changes) {
      expect(change.revision).toBeGreaterThan(this.seen.at(-1)?.revision ?? 0);
      expect(change.revision).toBeLessThanOrEqual(through);
      this.seen.push(change);
    }
    this.through = through;
  }

  ended(error: StoreError): void {
    this.error = error;
  }
}
