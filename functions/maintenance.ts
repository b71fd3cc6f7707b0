/**
 * By the clock: what a ring that was lost left undone, Events that have had their hour, history that is older than is served, claims of
 * addresses without a service. Cut off, it goes on with the next run.
 */
import {repairIndex} from '../shared/controllers/garbage/repair.ts';
import {Retention} from '../shared/controllers/retention.ts';
import {ServiceRepair} from '../shared/controllers/service-repair.ts';
import {ownerIndex, RungControllers} from './kit/controllers.ts';
import type {Invocation} from './kit/rest.ts';

const controllers = RungControllers.of('maintenance', {followsAll: true});
let repair: ServiceRepair | undefined;

/** What a server's own engine does by itself, one over shared tables when it is told to. */
interface Maintained {
  maintain?(budgetMs: number): Promise<void>;
}

const defaultHistoryMs = 3_600_000;
const sweepMs = 60_000;

export const handler = async (_event: unknown, context: Invocation = {}): Promise<{settled: boolean}> => {
  const rung = await controllers();
  const {assembly, client, options} = rung.cluster;
  const {machine, log} = assembly;
  const {store, clock, allocator, caches, catalogue} = machine;
  const settled = await rung.react(
    [...catalogue.stored()].map(({storageType}) => storageType),
    context,
  );
  await new Retention({store, client, clock, log, historyMs: options.watchHistoryMs ?? defaultHistoryMs}).run();
  // Suspects are those that it saw the last time: it remembers.
  repair ??= new ServiceRepair({allocator, caches, clock, log});
  await repair.run();
  await (store as Maintained).maintain?.(sweepMs);
  await repairIndex(await ownerIndex(), rung.garbage!.ties(), client, catalogue);
  return {settled};
};
