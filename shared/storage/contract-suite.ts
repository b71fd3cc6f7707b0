/**
 * The contract as a suite that can be called: every engine passes it, and passes it again behind faults.
 *
 *     storeContract({name: 'memory', open: (clock) => openMemory({clock})});
 */

import {afterEach, describe} from 'vitest';
import {type Clock, ManualClock} from '../clock.ts';
import type {Store} from './contract.ts';
import {changes} from './suite/changes.ts';
import {compaction} from './suite/compaction.ts';
import {reads} from './suite/reads.ts';
import type {Suite} from './suite/suite.ts';
import {writes} from './suite/writes.ts';

export interface StoreUnderTest {
  name: string;
  /** A fresh, empty store. */
  open(clock: Clock): Promise<Store>;
}

export function storeContract({name, open}: StoreUnderTest): void {
  describe(`the versioned store: ${name}`, () => {
    const stores: Store[] = [];
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
    });
    const suite: Suite = {
      async opened() {
        const clock = new ManualClock();
        const store = await open(clock);
        stores.push(store);
        return {store, clock};
      },
    };
    describe('writes', () => writes(suite));
    describe('reads', () => reads(suite));
    describe('changes', () => changes(suite));
    describe('compaction', () => compaction(suite));
  });
}
