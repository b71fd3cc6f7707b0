/**
 * The same clients over a real database, such as DynamoDB Local, in real time that the processes take for a faster one. Answers get
 * lost, calls are refused, processes crash, from a seed; when things happen is up to the database.
 */

import type {Clock} from '../../../shared/clock.ts';
import type {DynamoCalls} from '../../../shared/storage/dynamo/calls.ts';
import type {Item} from '../../../shared/storage/dynamo/double/errors.ts';
import {callOf, eachCall, faultyCalls, noCallFaults, someCallFaults} from '../../../shared/storage/dynamo/double/faults.ts';
import {groupOf, Keys} from '../../../shared/storage/dynamo/keys.ts';
import {openDynamo} from '../../../shared/storage/dynamo/open.ts';
import {seededRandom} from '../../../shared/storage/faults.ts';
import {broken, History} from '../history.ts';
import {type Counts, lastList, populate, types} from './population.ts';
import {type Host, Process, tables} from './process.ts';
import {archive} from './world.ts';

/** How much faster the processes' clocks go: nobody wants to wait for what waits for holes. */
const speed = 10;
const runMs = 400;
const patienceMs = 60_000;

class LocalHost implements Host {
  readonly calls: DynamoCalls;
  readonly died: Promise<void>;
  readonly clock: Clock = {
    now: () => Date.now() + (speed - 1) * performance.now(),
    after: (ms, callback) => {
      const timer = setTimeout(() => this.#dead || callback(), Math.min(ms / speed, 0x7fffffff));
      return () => clearTimeout(timer);
    },
  };
  #dead = false;
  #die!: () => void;

  constructor(calls: DynamoCalls) {
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    const never = new Promise<never>(() => {});
    this.calls = eachCall(async (verb, input) => {
      if (this.#dead) return never;
      try {
        const answer = await callOf(calls, verb)(input);
        return this.#dead ? await never : answer;
      } catch (error) {
        if (this.#dead) return never;
        throw error;
      }
    });
  }

  monotonic(): number {
    return speed * performance.now();
  }

  crash(): void {
    this.#dead = true;
    this.#die();
  }
}

/** @throws BrokenPromise */
export async function simulateLocal({seed, client, cluster}: {seed: number; client: DynamoCalls; cluster: string}): Promise<Counts> {
  const random = seededRandom(seed);
  const history = new History(groupOf);
  const rates = {...someCallFaults};
  const calls = faultyCalls(client, random, rates);
  const made = (): Process<LocalHost> => new Process(new LocalHost(calls), Math.random, cluster);
  const processes = Array.from({length: 1 + Math.floor(random() * 3)}, made);
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  let running = true;
  let failure: unknown;
  const population = populate({
    history,
    random,
    running: () => running,
    pause: () => sleep(random() * 10),
    process: () => processes[Math.floor(random() * processes.length)]!,
  });
  const all = population.start().map((client) =>
    client.catch((error: unknown) => {
      failure ??= error;
      running = false;
    }),
  );
  for (let at = 0; at < runMs && running; at += 50) {
    await sleep(50);
    const n = Math.floor(random() * processes.length);
    if (random() < 0.2) {
      processes[n]!.crash();
      processes[n] = made();
    }
    if (random() < 0.1) void processes[n]!.opened.then((store) => store.maintain()).catch(() => undefined);
  }
  running = false;
  Object.assign(rates, noCallFaults);
  let late: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    late = setTimeout(() => resolve(false), patienceMs);
  });
  const ended = await Promise.race([Promise.all(all).then(() => true), tooLate]);
  clearTimeout(late);
  if (failure) throw failure;
  if (!ended) broken('every call ends', {seed});
  const last = new LocalHost(client);
  const store = await openDynamo({client, tables, cluster, clock: last.clock, monotonic: () => last.monotonic()});
  const written: Item[] = [];
  for (const type of types) {
    const through = await lastList(store, type, history);
    const log = await logOf(client, cluster, type);
    const slots = new Set(log.map((item) => Number(item['sk']!.N)));
    for (let revision = 1; revision <= through; revision++)
      if (!slots.has(revision)) broken('what was listed is closed', {type, revision, through});
    // Types of one group have one log.
    written.push(...log.filter((item) => item['type']?.S === type));
  }
  archive(history, types, written, () => broken('nothing here is as large as that', {seed}));
  population.check();
  for (const process of processes) await process.opened.then((opened) => opened.close()).catch(() => undefined);
  await store.close();
  return population.counts();
}

async function logOf(client: DynamoCalls, cluster: string, type: string): Promise<Item[]> {
  const items: Item[] = [];
  const keys = new Keys(cluster);
  // Buckets are filled one after the other, in a run as short as these.
  for (let bucket = 0; bucket < 16 && items.length >= 64 * bucket; bucket++) {
    const {Items = []} = await client.query({
      TableName: tables.log,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: {':pk': {S: keys.log(groupOf(type), bucket)}},
      ConsistentRead: true,
    });
    items.push(...Items);
  }
  return items;
}
