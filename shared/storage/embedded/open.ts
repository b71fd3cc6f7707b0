/** The two ways to open the embedded store. */

import type {Clock} from '../../clock.ts';
import type {Store} from '../contract.ts';
import {Engine} from './engine.ts';
import {MemoryBacking} from './memory.ts';

export async function openMemory(options: {clock?: Clock} = {}): Promise<Store> {
  return new Engine(new MemoryBacking(), options);
}
