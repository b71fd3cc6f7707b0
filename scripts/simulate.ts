/**
 * Simulations of the store, one seed after the other: the embedded engine on memory and on LMDB in turn, or the one over
 * the double of DynamoDB (--trace: with every write of that) or DynamoDB Local.
 *
 *     simulate [--seed N] [--runs M] [--turns T] [--engine memory|lmdb|dynamo|dynamo-local] [--trace]
 */

import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {parseArgs} from 'node:util';
import {startLocalDynamo} from '../shared/storage/dynamo/testing/start.ts';
import {simulateLocal} from '../test/simulation/dynamo/local.ts';
import type {Counts} from '../test/simulation/dynamo/population.ts';
import {tables} from '../test/simulation/dynamo/process.ts';
import {type SimulatedDynamo, simulateDynamo} from '../test/simulation/dynamo/simulate.ts';
import {simulate} from '../test/simulation/simulate.ts';

const {values} = parseArgs({
  options: {
    seed: {type: 'string', default: '1'},
    runs: {type: 'string', default: '20'},
    turns: {type: 'string', default: '3000'},
    engine: {type: 'string'},
    trace: {type: 'boolean', default: false},
    parallel: {type: 'string', default: '6'},
  },
});

const first = Number(values.seed);
const turns = Number(values.turns);
if (values.engine === 'dynamo') await simulateAllDynamo(Number(values.runs));
else if (values.engine === 'dynamo-local') await simulateAllLocal(Number(values.runs));
else await simulateAll();

/** Small runs, many of them: sums are told, not each one. */
async function simulateAllDynamo(runs: number): Promise<void> {
  const total: Partial<SimulatedDynamo> = {};
  const began = performance.now();
  // Where errors are made is asked of the one run that is repeated.
  if (runs > 1) Error.stackTraceLimit = 0;
  const told = Math.max(1, Math.floor(runs / 20));
  for (let seed = first; seed < first + runs; seed++) {
    try {
      const simulated = await simulateDynamo({seed, ...(values.trace && {trace: console.log})});
      for (const [name, count] of Object.entries(simulated) as [keyof SimulatedDynamo, number][]) total[name] = (total[name] ?? 0) + count;
    } catch (error) {
      console.error(`seed ${seed} dynamo: ${error instanceof Error ? error.stack : String(error)}`);
      console.error(`again: npm run simulate -- --engine dynamo --seed ${seed} --runs 1`);
      process.exitCode = 1;
      return;
    }
    const done = seed - first + 1;
    if (done % told === 0 || done === runs)
      console.log(`${done} runs, ${Math.round((performance.now() - began) / done)} ms each, in all ${JSON.stringify(total)}`);
  }
}

/** In real time, so some at once. */
async function simulateAllLocal(runs: number): Promise<void> {
  const {client, stop} = await startLocalDynamo(tables, resolve(process.env['TEST_DYNAMO'] ?? '.cache/dynamo/DynamoDBLocal.jar'));
  const total: Partial<Counts> = {};
  const began = performance.now();
  let next = first;
  let done = 0;
  const one = async (): Promise<void> => {
    while (next < first + runs) {
      const seed = next++;
      try {
        const counts = await simulateLocal({seed, client, cluster: `c${seed}`});
        for (const [name, count] of Object.entries(counts) as [keyof Counts, number][]) total[name] = (total[name] ?? 0) + count;
      } catch (error) {
        console.error(`seed ${seed} dynamo-local: ${error instanceof Error ? error.stack : String(error)}`);
        console.error(`again, though not exactly: npm run simulate -- --engine dynamo-local --seed ${seed} --runs 20`);
        process.exitCode = 1;
        next = Number.POSITIVE_INFINITY;
      }
      if (++done % 50 === 0)
        console.log(`${done} runs, ${Math.round((performance.now() - began) / done)} ms each, ${JSON.stringify(total)}`);
    }
  };
  await Promise.all(Array.from({length: Number(values.parallel)}, one));
  console.log(`${done} runs in ${Math.round((performance.now() - began) / 1000)} s, in all ${JSON.stringify(total)}`);
  stop();
}

async function simulateAll(): Promise<void> {
  for (let seed = first; seed < first + Number(values.runs); seed++) {
    const engine = values.engine ?? (seed % 2 === 0 ? 'lmdb' : 'memory');
    const path = engine === 'lmdb' ? await mkdtemp(join(tmpdir(), 'simulated-')) : undefined;
    const began = performance.now();
    try {
      const simulated = await simulate({seed, turns, ...(path !== undefined && {path})});
      console.log(`seed ${seed} ${engine} ${Math.round(performance.now() - began)} ms ${JSON.stringify(simulated)}`);
    } catch (error) {
      console.error(`seed ${seed} ${engine}: ${error instanceof Error ? error.stack : String(error)}`);
      console.error(`again: simulate --seed ${seed} --runs 1 --turns ${turns} --engine ${engine}`);
      process.exitCode = 1;
      break;
    } finally {
      if (path !== undefined) await rm(path, {recursive: true, force: true});
    }
  }
}
