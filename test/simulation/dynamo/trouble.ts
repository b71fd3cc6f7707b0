/** What happens to processes, clocks and the network, and the upkeep that goes on meanwhile. */

import {noCallFaults, someCallFaults} from '../../../shared/storage/dynamo/double/faults.ts';
import type {World as Clients} from '../clients.ts';
import type {World} from './world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export async function trouble(world: World, clients: Clients): Promise<void> {
  const {random, running, pause} = clients;
  const {steps} = world;
  const mood = random();
  if (mood < 0.8) world.trouble({rates: someCallFaults, slownessMs: random() < 0.3 ? 8_000 : 300});
  /** How often what is done by a schedule is done here: rarely, or all the time. */
  const zeal = random() < 0.2 ? 0.8 : 0.2;
  while (running()) {
    for (let pauses = Math.floor(random() * 10); pauses >= 0 && running(); pauses--) await pause!();
    if (!running()) return;
    const n = Math.floor(random() * world.processes.length);
    const {machine} = world.processes[n]!;
    if (random() < zeal) void upkeep(world, n);
    const what = random();
    if (what < 0.4) {
      machine.freeze();
      // Some sleep until time has leapt.
      if (random() < 0.6) steps.after(10 ** (2 + 3 * random()), () => machine.thaw((random() - 0.5) * minuteMs));
    } else if (what < 0.6) thawAll(world, clients);
    else if (what < 0.7) world.replace(n);
    else if (what < 0.8) await leap(world, clients, random() * (random() < 0.5 ? 1 : 80) * hourMs);
    else if (what < 0.9) await longSleep(world, clients, n);
    else if (what < 0.95) world.trouble({rates: noCallFaults, slownessMs: 0});
    else world.trouble({rates: someCallFaults, slownessMs: random() * 8_000});
  }
}

function thawAll({processes}: World, {random}: Clients): void {
  for (const {machine} of processes) machine.thaw((random() - 0.5) * minuteMs);
}

async function leap({steps, double}: World, {random, running}: Clients, ms: number): Promise<void> {
  while (double.underWay > 0) await steps.sleep(1);
  if (!running()) return;
  steps.leap(ms);
  double.expire(random() < 0.5 ? 1 : random());
}

/** One sleeps through days in which all the others go on, and everything is tidied up. */
async function longSleep(world: World, clients: Clients, n: number): Promise<void> {
  const {random, running, pause} = clients;
  world.processes[n]!.machine.freeze();
  const others = world.processes.map((_, at) => at).filter((at) => at !== n);
  for (let days = Math.floor(random() * 4); days >= 0 && running(); days--) {
    for (let pauses = Math.floor(random() * 4); pauses >= 0 && running(); pauses--) await pause!();
    for (const other of others) void upkeep(world, other);
    for (let pauses = Math.floor(random() * 4); pauses >= 0 && running(); pauses--) await pause!();
    if (!running()) return;
    await leap(world, clients, random() * 30 * hourMs);
  }
  thawAll(world, clients);
}

/** As a schedule does it: whatever fails is done the next time. */
async function upkeep(world: World, n: number): Promise<void> {
  try {
    const store = await world.processes[n]!.opened;
    await store.maintain();
  } catch {
    // The next one goes on.
  }
}
