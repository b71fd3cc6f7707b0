/** Clients of the watch protocol over a network that loses, doubles, reorders and cuts: whatever it does, each hears of everything once. */
import {expect, test} from 'vitest';
import {seededRandom} from '../../storage/faults.ts';
import {FeedEvent} from '../hub.ts';
import type {ClientSubscription} from './client.ts';
import type {Selection} from './messages.ts';
import {pods, settled, type World, world} from './testing.ts';

const runs = Number(process.env['SIMULATION_RUNS'] ?? 60);
const firstSeed = Number(process.env['SIMULATION_SEED'] ?? 1);
const steps = 250;

interface Watcher {
  selection: Selection;
  from: number;
  seen: string[];
  failed: number[];
  subscription: ClientSubscription;
}

const selections = [pods(), pods({namespace: 'a'}), pods({labelSelector: 'app=web'}), pods({namespace: 'b', labelSelector: 'app=db'})];
const keys = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2'];
const labels: Record<string, string>[] = [{app: 'web'}, {app: 'db'}, {}];
/** Enough of an event to tell it from others, and whether it came whole. */
const brief = (line: string): string => `${line.slice(0, 40)}… ${line.length}`;

async function simulate(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const {network, clock, ...rest} = await world();
  const it: World = {network, clock, ...rest};
  const live = new Set<string>();
  const first = await it.write('a/0', {});
  const clients = [it.client(random), it.client(random)];
  const watchers: Watcher[] = [];
  const watch = (from: number): void => {
    const watcher: Watcher = {selection: pick(selections), from, seen: [], failed: [], subscription: undefined as never};
    watcher.subscription = pick(clients).subscribe(watcher.selection, from, {
      events: (events) => watcher.seen.push(...events.map(({line}) => brief(line))),
      failed: ({code}) => watcher.failed.push(code),
    });
    watchers.push(watcher);
  };
  watch(first);
  watch(first);
  let head = first;
  for (let step = 0; step < steps; step++) {
    const dice = random();
    const at = Math.floor(random() * network.flights.length);
    if (dice < 0.3) {
      const key = pick(keys);
      if (live.has(key) && random() < 0.3) {
        head = await it.remove(key);
        live.delete(key);
      } else {
        // Some need parts.
        head = await it.write(key, pick(labels), 'x'.repeat(random() < 0.1 ? 70_000 : 10));
        live.add(key);
      }
    } else if (dice < 0.72) network.deliver(random() < 0.7 ? 0 : at);
    else if (dice < 0.76) network.flights.splice(at, 1);
    else if (dice < 0.82 && network.flights.length > 0) network.post(network.flights[at]!.carry);
    else if (dice < 0.83) network.cut();
    else if (dice < 0.84) network.down = !network.down && random() < 0.5;
    else if (dice < 0.9) clock.advance(Math.floor(random() * 8_000));
    else if (dice < 0.91) clock.advance(Math.floor(random() * 7_000_000));
    else if (dice < 0.93 && watchers.length < 12) watch(Math.max(first, head - Math.floor(random() * 10)));
    await settled(1);
  }
  network.down = false;
  const expected = await Promise.all(watchers.map(({selection, from}) => expectedOf(it, selection, from)));
  const isDone = () => watchers.every(({seen, failed}, at) => failed.length > 0 || seen.length >= expected[at]!.length);
  for (let round = 0; round < 200 && !isDone(); round++) {
    await network.deliverAll();
    clock.advance(5_000);
  }
  for (const [at, {seen, failed}] of watchers.entries()) {
    // Without a server for long enough a watcher is told so: until then it has a prefix, without a gap.
    if (failed.length > 0) expect([failed, seen]).toEqual([[503], expected[at]!.slice(0, seen.length)]);
    else expect(seen).toEqual(expected[at]);
  }
  for (const client of clients) client.close();
  await network.deliverAll();
  network.cut();
  expect([it.topics.size, it.hubs.of('pods').size]).toEqual([0, 0]);
  await it.hubs.close();
  await it.store.close();
}

/** What a watch is, by the log alone. */
async function expectedOf({store, rooms}: World, selection: Selection, from: number): Promise<string[]> {
  const feed = await rooms.open({name: '', groups: []}, selection);
  const changes = await store.log('pods', from, await store.head('pods'));
  const lines = changes.map((change) => feed.line(new FeedEvent(change)));
  return lines.flatMap((line) => (line ? [brief(Buffer.from(line).toString().slice(0, -1))] : []));
}

test(`${runs} networks that lose, double, reorder and cut: every watcher has every event once and in order`, async () => {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    try {
      await simulate(seed);
    } catch (error) {
      throw new Error(`seed ${seed} (SIMULATION_SEED=${seed} SIMULATION_RUNS=1): ${(error as Error).message}`, {cause: error});
    }
  }
}, 120_000);
