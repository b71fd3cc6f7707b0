/**
 * One store, many clients, injected faults, restarts; everything seen is held against what the store promises. On memory a seed
 * repeats a run exactly; on LMDB it repeats what is asked, while the disk decides when answers come.
 */

import {ManualClock} from '../../shared/clock.ts';
import type {Store, Subscription} from '../../shared/storage/contract.ts';
import {openEmbedded, openMemory} from '../../shared/storage/embedded/open.ts';
import {faulty, seededRandom, someFaults} from '../../shared/storage/faults.ts';
import {compactor, lister, nextTurn, reader, type World, watcher, writer} from './clients.ts';
import {History} from './history.ts';

export interface SimulationOptions {
  seed: number;
  /** A folder for LMDB; memory when absent. */
  path?: string;
  /** Turns of the event loop that it lasts. */
  turns?: number;
}

export interface Simulated {
  writes: number;
  acknowledged: number;
  reads: number;
  lists: number;
  watches: number;
  changes: number;
  restarts: number;
}

const types = ['pods', 'services'];

/** @throws BrokenPromise */
export async function simulate({seed, path, turns = 1_500}: SimulationOptions): Promise<Simulated> {
  const random = seededRandom(seed);
  const history = new History();
  const clock = new ManualClock();
  const open = (): Promise<Store> => (path === undefined ? openMemory({clock}) : openEmbedded({path, clock, cacheBytes: 4096}));
  const rates = random() < 0.3 ? {...someFaults, unavailable: 0, lostAnswer: 0, endedSubscription: 0, lateTurns: 0} : someFaults;

  let running = true;
  let store = await open();
  let reached = faulty(store, seed, rates);
  const archivists = await archive(store, history);
  const world: World = {
    store: () => reached,
    history,
    random,
    running: () => running,
    types,
    namespaces: 3,
    names: 2 + Math.floor(random() * 6),
  };
  const clients = [
    ...Array.from({length: 4}, () => writer(world)),
    ...Array.from({length: 2}, () => reader(world)),
    ...Array.from({length: 2}, () => lister(world)),
    ...Array.from({length: 3}, () => watcher(world)),
    ...(random() < 0.7 ? [compactor(world)] : []),
  ];
  // Whoever fails stops the run; the others are waited for all the same.
  const settled = Promise.allSettled(clients.map((client) => client.finally(() => (running = false))));

  let restarts = 0;
  for (let turn = 0; turn < turns && running; turn++) {
    await nextTurn();
    clock.advance(10);
    if (path === undefined || random() > 0.004) continue;
    restarts++;
    await archivists.advance(store);
    await store.close();
    store = await open();
    // Before anybody can compact.
    await archivists.follow(store);
    reached = faulty(store, seed + restarts, rates);
  }
  running = false;
  for (const outcome of await settled) if (outcome.status === 'rejected') throw outcome.reason;
  await archivists.finish(store);
  await store.close();
  history.check();
  return {
    writes: history.writes.length,
    acknowledged: history.writes.filter((write) => typeof write.outcome === 'object').length,
    reads: history.reads.length,
    lists: history.lists.length,
    watches: history.watches.length,
    changes: [...history.archive.values()].flat().length,
    restarts,
  };
}

/** Subscribers on the store itself, without faults: their word is what the clients are held against. */
async function archive(first: Store, history: History) {
  const through = new Map(types.map((type) => [type, 0]));
  let subscriptions: Subscription[] = [];
  for (const type of types) history.archive.set(type, []);
  const follow = async (store: Store): Promise<void> => {
    subscriptions = await Promise.all(
      types.map((type) =>
        store.subscribe(type, through.get(type)!, {
          changes(changes, upTo) {
            history.archive.get(type)!.push(...changes);
            through.set(type, upTo);
          },
          ended(error) {
            if (error.code === 'Compacted') throw error;
          },
        }),
      ),
    );
    // Live before anybody compacts.
    await nextTurn();
  };
  await follow(first);
  return {
    follow,
    /** Live subscribers have been told everything up to the head, also where nothing of their type changed. */
    async advance(store: Store): Promise<void> {
      for (const type of types) through.set(type, Math.max(through.get(type)!, await store.head(type)));
    },
    async finish(store: Store): Promise<void> {
      for (const type of types) {
        const head = await store.head(type);
        const last = history.archive.get(type)!.at(-1)?.revision ?? 0;
        const rest = await store.log(type, Math.max(last, await store.compactedThrough(type)), head);
        if (rest.length > 0) throw new Error('the archive is behind the store');
      }
      for (const subscription of subscriptions) subscription.close();
    },
  };
}
