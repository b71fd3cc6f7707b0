/**
 * Simulations of the store, one seed after the other, on memory and on LMDB in turn.
 *
 *     simulate [--seed N] [--runs M] [--turns T] [--engine memory|lmdb]
 */

import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {simulate} from '../test/simulation/simulate.ts';

const {values} = parseArgs({
  options: {
    seed: {type: 'string', default: '1'},
    runs: {type: 'string', default: '20'},
    turns: {type: 'string', default: '3000'},
    engine: {type: 'string'},
  },
});

const first = Number(values.seed);
const turns = Number(values.turns);
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
