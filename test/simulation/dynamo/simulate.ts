/**
 * The store over DynamoDB: several processes, many clients, and everything that can go wrong between and within them, from a seed.
 * Everything seen is held against what the store promises. A seed repeats a run exactly.
 */

import {noCallFaults} from '../../../shared/storage/dynamo/double/faults.ts';
import {Steps} from '../../../shared/storage/dynamo/double/steps.ts';
import {groupOf} from '../../../shared/storage/dynamo/keys.ts';
import {openDynamo} from '../../../shared/storage/dynamo/open.ts';
import {seededRandom} from '../../../shared/storage/faults.ts';
import {type World as Clients, compactor, lister, reader, watcher, writer} from '../clients.ts';
import {broken, History, itemOf, padded} from '../history.ts';
import {creator, keeper, Listening, namespaces, pods, type Requests, requester, roles} from './sessions.ts';
import {trouble} from './trouble.ts';
import {tables, World} from './world.ts';

export interface DynamoSimulation {
  seed: number;
  /** Events that it lasts, at most; by the seed otherwise. */
  steps?: number;
  /** Told of every write of the database. */
  trace?: (line: string) => void;
}

export interface SimulatedDynamo {
  writes: number;
  acknowledged: number;
  reads: number;
  lists: number;
  watches: number;
  changes: number;
  emptied: number;
  calls: number;
  /** Virtual time, in seconds. */
  seconds: number;
}

const types = [pods, roles, namespaces];
/** After the last trouble everything must come to an end in this time. */
const patienceMs = 20 * 60_000;

/** @throws BrokenPromise */
export async function simulateDynamo({seed, steps: length, trace}: DynamoSimulation): Promise<SimulatedDynamo> {
  const random = seededRandom(seed);
  const steps = new Steps();
  const world = new World(steps, random, trace);
  world.double.metered = [];
  const history = new History(groupOf);
  let running = true;
  let failure: unknown;
  const pauseMs = 10 ** (1 + 2 * random());
  const clients: Clients = {
    store: () => world.any().store,
    history,
    random,
    running: () => running,
    pause: () => steps.sleep(random() * pauseMs),
    types: [pods, pods, roles],
    // Some are too large for an item.
    ...(random() < 0.03 && {image: (token: string) => (random() < 0.3 ? padded(token, 90_000) : token)}),
    namespaces: 1 + Math.floor(random() * 2),
    names: 1 + Math.floor(random() * 4),
  };
  const requests: Requests = {
    history,
    random,
    running: () => running,
    pause: () => clients.pause!(),
    process: () => world.any(),
    roles: ['n0/o0', 'n0/o1'],
    namespaces: ['t0', 't1'],
    emptied: [],
  };
  const listening = new Listening();
  const some = (most: number): number => Math.floor(random() * (most + 1));
  const several = (count: number, client: () => Promise<void>): Promise<void>[] => Array.from({length: count}, client);
  const work = async (): Promise<void> => {
    await world.open(1 + some(2));
    const all = [
      ...several(1 + some(2), () => writer(clients)),
      ...several(some(1), () => reader(clients)),
      ...several(some(2), () => lister(clients)),
      ...several(some(2), () => watcher(clients)),
      ...several(some(2), () => requester(requests, listening)),
      ...(random() < 0.5
        ? [...several(1 + some(1), () => creator(requests, listening)), ...requests.namespaces.map((name) => keeper(requests, name))]
        : []),
      ...several(random() < 0.3 ? 1 : 0, () => compactor(clients)),
      ...several(random() < 0.8 ? 1 : 0, () => trouble(world, clients)),
    ];
    await Promise.all(
      all.map((client) =>
        client.catch((error: unknown) => {
          failure ??= error;
          running = false;
        }),
      ),
    );
  };
  let finished = false;
  const done = work().finally(() => {
    finished = true;
  });
  done.catch(() => undefined);
  let left = length ?? 200 + Math.floor(random() ** 2 * 2_000);
  await steps.run(() => running && left-- > 0);
  running = false;
  world.trouble({rates: noCallFaults, slownessMs: 0});
  for (const {machine} of world.processes) machine.thaw();
  const end = steps.now() + patienceMs;
  // Some clients wait for turns of the event loop, not for time.
  for (let turns = 0; !finished && turns < 1_000; turns++) await steps.run(() => !finished && steps.now() < end);
  if (failure) throw failure;
  if (!finished) broken('every call ends', {seed});
  await done;

  // One more process, long after: what it finds is what there is.
  const machine = world.machine();
  const last = (async () => {
    const store = await openDynamo({client: machine.calls, tables, clock: machine.clock, monotonic: machine.monotonic, random});
    for (const type of types) {
      const began = history.now();
      const {items, revision} = await store.scan(type, {prefix: ''});
      history.lists.push({type, prefix: '', revision, exact: false, items: items.map(itemOf), began, ended: history.now()});
      world.checkLog(type, revision);
    }
  })();
  let over = false;
  last
    .catch(() => undefined)
    .finally(() => {
      over = true;
    });
  await steps.run(() => !over && steps.now() < end + patienceMs);
  if (!over) broken('a list ends', {seed});
  await last;
  if (world.failure) throw world.failure;
  world.truth.archive(history, types);
  history.check();
  for (const {namespace, revision} of requests.emptied)
    for (const change of history.archive.get(pods)!)
      if (change.operation === 'create' && change.revision > revision && change.key.startsWith(`${namespace}/`))
        broken('nothing is created in a namespace that was emptied', {namespace, revision, key: change.key, created: change.revision});
  return {
    writes: history.writes.length,
    acknowledged: history.writes.filter((write) => typeof write.outcome === 'object').length,
    reads: history.reads.length,
    lists: history.lists.length,
    watches: history.watches.length,
    changes: [...history.archive.values()].flat().length,
    emptied: requests.emptied.length,
    calls: world.double.metered.length,
    seconds: Math.round((steps.now() - Date.UTC(2026, 0, 1)) / 1000),
  };
}
