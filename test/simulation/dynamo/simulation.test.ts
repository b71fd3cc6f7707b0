/** A few seconds of what `npm run simulate -- --engine dynamo` does for as long as one likes. */

import {describe, expect, test} from 'vitest';
import {simulateDynamo} from './simulate.ts';

const runs = 100;

describe('the store over DynamoDB keeps its promises to many clients of several processes', () => {
  test(`through faults, crashes, sleeps and leaps of time, seeds 1 to ${runs}`, async () => {
    let [acknowledged, emptied] = [0, 0];
    for (let seed = 1; seed <= runs; seed++) {
      const simulated = await simulateDynamo({seed}).catch((error: unknown) => {
        throw new Error(`npm run simulate -- --engine dynamo --seed ${seed} --runs 1`, {cause: error});
      });
      acknowledged += simulated.acknowledged;
      emptied += simulated.emptied;
    }
    expect(acknowledged).toBeGreaterThan(10 * runs);
    expect(emptied).toBeGreaterThan(0);
  }, 120_000);

  test('a seed repeats a run', async () => {
    const lines: string[][] = [[], []];
    const [first, again] = [
      await simulateDynamo({seed: 8, trace: (line) => lines[0]!.push(line)}),
      await simulateDynamo({seed: 8, trace: (line) => lines[1]!.push(line)}),
    ];
    expect(again).toEqual(first);
    expect(lines[1]).toEqual(lines[0]);
  });
});
