/** Who uses the store in a simulation. Each goes on until it is told to stop, and writes down what it saw. */

import {type Change, isStoreError, type Revision, type Store, type Subscription} from '../../shared/storage/contract.ts';
import {type History, itemOf, type WatchSeen} from './history.ts';

export interface World {
  /** The store as clients reach it now: it changes when the store is reopened. */
  store(): Store;
  history: History;
  /** In [0, 1), from the simulation's seed. */
  random(): number;
  running(): boolean;
  types: readonly string[];
  namespaces: number;
  names: number;
  /** Between two calls of a client; some turns of the event loop otherwise. */
  pause?(): Promise<void>;
  /** What a writer writes under its token; that itself otherwise. */
  image?(token: string): string;
}

const pick = <T>({random}: World, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const someKey = (world: World): string => `n${Math.floor(world.random() * world.namespaces)}/o${Math.floor(world.random() * world.names)}`;
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function pause(world: World): Promise<void> {
  if (world.pause) return world.pause();
  for (let turns = Math.floor(world.random() * 4); turns >= 0; turns--) await nextTurn();
}

const isRefusal = (error: unknown): boolean => isStoreError(error) && ['Exists', 'Changed', 'NotFound'].includes(error.code);
/** Refused for now, or closed for a restart. Anything else a client does not expect. */
const mayRetry = (error: unknown): boolean => isStoreError(error, 'Unavailable');

/** Creates, replaces and deletes what it last knew of, so that it is often wrong. */
export async function writer(world: World): Promise<void> {
  const {history, random} = world;
  const name = `w${history.writers++}`;
  const known = new Map<string, Revision>();
  for (let count = 0; world.running(); count++) {
    const type = pick(world, world.types);
    const key = someKey(world);
    const id = `${type} ${key}`;
    const expected = known.get(id) ?? 'absent';
    const operation = expected !== 'absent' && random() < 0.3 ? 'delete' : 'put';
    const token = `${name}.${count}`;
    const image = Buffer.from(world.image?.(token) ?? token);
    const write = {type, key, expected, operation, encode: () => image, index: {labels: {token}}} as const;
    const began = history.now();
    try {
      const {revision} = await world.store().append(write);
      history.writes.push({type, key, token, began, ended: history.now(), outcome: {revision}});
      if (operation === 'delete') known.delete(id);
      else known.set(id, revision);
    } catch (error) {
      const ended = history.now();
      if (isStoreError(error) && isRefusal(error)) {
        history.writes.push({type, key, token, began, ended, outcome: 'refused'});
        if (error.current) history.reads.push({type, key, began, ended, revision: error.current.revision});
        else if (error.code === 'NotFound') history.reads.push({type, key, began, ended, revision: 'absent'});
        if (error.current && random() < 0.8) known.set(id, error.current.revision);
        else known.delete(id);
      } else if (isStoreError(error, 'OutcomeUnknown')) {
        history.writes.push({type, key, token, began, ended, outcome: 'unknown'});
      } else if (mayRetry(error)) {
        history.writes.push({type, key, token, began, ended, outcome: 'not attempted'});
      } else throw error;
    }
    await pause(world);
  }
}

export async function reader(world: World): Promise<void> {
  const {history} = world;
  while (world.running()) {
    const type = pick(world, world.types);
    const key = someKey(world);
    const began = history.now();
    try {
      const stored = await world.store().read(type, key);
      history.reads.push({type, key, began, ended: history.now(), revision: stored?.revision ?? 'absent'});
    } catch (error) {
      if (!mayRetry(error)) throw error;
    }
    await pause(world);
  }
}

/** Whole lists, lists in chunks, and lists of how it was. */
export async function lister(world: World): Promise<void> {
  const {history, random} = world;
  while (world.running()) {
    const type = pick(world, world.types);
    const prefix = random() < 0.5 ? '' : `n${Math.floor(random() * world.namespaces)}/`;
    const limit = random() < 0.5 ? undefined : 1 + Math.floor(random() * 5);
    const began = history.now();
    try {
      const store = world.store();
      let at: Revision | undefined;
      if (random() < 0.3) {
        const [head, oldest] = await Promise.all([store.head(type), store.compactedThrough(type)]);
        at = Math.max(oldest, head - Math.floor(random() * 60));
      }
      const exact = at !== undefined;
      const items: ReturnType<typeof itemOf>[] = [];
      let after: string | undefined;
      for (;;) {
        const page = await store.scan(type, {
          prefix,
          ...(limit !== undefined && {limit}),
          ...(at !== undefined && {at}),
          ...(after !== undefined && {after}),
        });
        at = page.revision;
        items.push(...page.items.map(itemOf));
        if (!page.more) break;
        after = page.items.at(-1)!.key;
        await pause(world);
      }
      history.lists.push({type, prefix, revision: at, exact, items, began, ended: history.now()});
    } catch (error) {
      // A list in chunks may take longer than history is kept.
      if (!mayRetry(error) && !isStoreError(error, 'Compacted')) throw error;
    }
    await pause(world);
  }
}

/** Lists, watches from there, loses its connection, resumes; lists again when it was away for too long. */
export async function watcher(world: World): Promise<void> {
  const {history, random} = world;
  while (world.running()) {
    const type = pick(world, world.types);
    try {
      const {revision} = await world.store().scan(type, {prefix: '', limit: 1});
      const seen: WatchSeen & {changes: Change[]} = {type, from: revision, through: revision, changes: []};
      history.watches.push(seen);
      let connections = 1 + Math.floor(random() * 5);
      while (world.running() && connections-- > 0) await watchOnce(world, type, seen);
    } catch (error) {
      if (!mayRetry(error) && !isStoreError(error, 'Compacted')) throw error;
    }
    await pause(world);
  }
}

async function watchOnce(world: World, type: string, seen: WatchSeen & {changes: Change[]}): Promise<void> {
  let ended: Error | undefined;
  let open = true;
  const subscription: Subscription = await world.store().subscribe(type, seen.through, {
    changes(changes, through) {
      // What comes after close() would be a promise broken: it lands in the history.
      if (!open) seen.changes.push(...changes, ...changes);
      seen.changes.push(...changes);
      world.history.heard(type, changes);
      seen.through = through;
    },
    ended(error) {
      ended = error;
    },
  });
  for (let turns = Math.floor(world.random() * 60); turns > 0 && !ended && world.running(); turns--) await nextTurn();
  subscription.close();
  open = false;
  if (ended && !mayRetry(ended)) throw ended;
  for (let turns = Math.floor(world.random() * 30); turns > 0; turns--) await nextTurn();
}

export async function compactor(world: World): Promise<void> {
  while (world.running()) {
    for (let turns = 0; turns < 100 && world.running(); turns++) await nextTurn();
    try {
      const head = await world.store().head(world.types[0]!);
      await world.store().compact(head - Math.floor(world.random() * 100));
    } catch (error) {
      if (!mayRetry(error)) throw error;
    }
  }
}
