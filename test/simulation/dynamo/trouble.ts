/** What happens to processes, clocks and the network, and the upkeep that goes on meanwhile. */

import {noCallFaults, someCallFaults} from '../../../shared/storage/dynamo/double/faults.ts';
import type {World as Clients} from '../clients.ts';
import type {World} from './world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export async function trouble(world: World, {random, running, pause}: Clients): Promise<void> {
  const {steps} = world;
  const mood = random();
  if (mood < 0.8) world.trouble({rates: someCallFaults, slownessMs: random() < 0.3 ? 8_000 : 300});
  while (running()) {
    for (let pauses = Math.floor(random() * 10); pauses >= 0 && running(); pauses--) await pause!();
    if (!running()) return;
    const what = random();
    const n = Math.floor(random() * world.processes.length);
    const {machine} = world.processes[n]!;
    if (what < 0.35) {
      machine.freeze();
      // Some sleep until time has leapt.
      if (random() < 0.6) steps.after(10 ** (2 + 3 * random()), () => machine.thaw((random() - 0.5) * minuteMs));
    } else if (what < 0.5) {
      for (const process of world.processes) process.machine.thaw((random() - 0.5) * minuteMs);
    } else if (what < 0.6) world.replace(n);
    else if (what < 0.7) {
      const longest = random() < 0.5 ? hourMs : 80 * hourMs;
      while (world.double.underWay > 0) await steps.sleep(1);
      if (!running()) return;
      steps.leap(random() * longest);
      world.double.expire(random() < 0.5 ? 1 : random());
    } else if (what < 0.9) void upkeep(world, n);
    else if (what < 0.95) world.trouble({rates: noCallFaults, slownessMs: 0});
    else world.trouble({rates: someCallFaults, slownessMs: random() * 8_000});
  }
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
