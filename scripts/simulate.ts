/**
 * Simulations of the store, one seed after the other: the embedded engine on memory and on LMDB in turn, or the one over
 * the double of DynamoDB (--trace: with every write of that).
 *
 *     simulate [--seed N] [--runs M] [--turns T] [--engine memory|lmdb|dynamo] [--trace]
 */

import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {type SimulatedDynamo, simulateDynamo} from '../test/simulation/dynamo/simulate.ts';
import {simulate} from '../test/simulation/simulate.ts';

const {values} = parseArgs({
  options: {
    seed: {type: 'string', default: '1'},
    runs: {type: 'string', default: '20'},
    turns: {type: 'string', default: '3000'},
    engine: {type: 'string'},
    trace: {type: 'boolean', default: false},
  },
});

const first = Number(values.seed);
const turns = Number(values.turns);
if (values.engine === 'dynamo') await simulateAllDynamo(Number(values.runs));
else await simulateAll();

/** Small runs, many of them: sums are told, not each one. */
async function simulateAllDynamo(runs: number): Promise<void> {
  const total: Partial<SimulatedDynamo> = {};
  const began = performance.now();
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
