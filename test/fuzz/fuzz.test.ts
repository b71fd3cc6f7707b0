/** Some seconds of what `npm run fuzz` does for as long as one likes. */
import {describe, expect, test} from 'vitest';
import {fuzz} from './run.ts';

/** Other tests run beside this one: here only what hangs is slow. `npm run fuzz` is stricter. */
const slowMs = 10_000;

describe('whatever strangers send', () => {
  test.each([1, 2])('has an answer, and what is stored stays well: seed %i', async (seed) => {
    const {findings, requests, byStatus, stored} = await fuzz({seed, seconds: 15, requests: 3_000, slowMs});
    expect(findings).toEqual([]);
    expect(requests).toBeGreaterThan(500);
    expect(byStatus['201']).toBeGreaterThan(10);
    expect(stored).toBeGreaterThan(50);
  }, 60_000);
});
