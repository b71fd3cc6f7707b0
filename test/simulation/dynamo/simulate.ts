/**
 * The store over DynamoDB: several processes, many clients, and everything that can go wrong between and within them, from a seed.
 * Everything seen is held against what the store promises. A seed repeats a run exactly.
 */

import {noCallFaults} from '../../../shared/storage/dynamo/double/faults.ts';
import {Steps} from '../../../shared/storage/dynamo/double/steps.ts';
import {groupOf} from '../../../shared/storage/dynamo/keys.ts';
import {openDynamo} from '../../../shared/storage/dynamo/open.ts';
import {seededRandom} from '../../../shared/storage/faults.ts';
import {broken, History, padded} from '../history.ts';
import {type Counts, lastList, populate, types} from './population.ts';
import {tables} from './process.ts';
import {trouble} from './trouble.ts';
import {World} from './world.ts';

export interface DynamoSimulation {
  seed: number;
  /** Events that it lasts, at most; by the seed otherwise. */
  steps?: number;
  /** Told of every write of the database. */
  trace?: (line: string) => void;
}

export interface SimulatedDynamo extends Counts {
  calls: number;
  /** Virtual time, in seconds. */
  seconds: number;
}

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
  const population = populate({
    history,
    random,
    running: () => running,
    pause: () => steps.sleep(random() * pauseMs),
    process: () => world.any(),
    // Some are too large for an item.
    ...(random() < 0.03 && {image: (token: string) => (random() < 0.3 ? padded(token, 90_000) : token)}),
  });
  const work = async (): Promise<void> => {
    await world.open(1 + Math.floor(random() * 3));
    await Promise.all(
      [...population.start(), ...(random() < 0.8 ? [trouble(world, population.clients)] : [])].map((client) =>
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
    for (const type of types) world.checkLog(type, await lastList(store, type, history));
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
  population.check();
  return {
    ...population.counts(),
    calls: world.double.metered.length,
    seconds: Math.round((steps.now() - Date.UTC(2026, 0, 1)) / 1000),
  };
}
