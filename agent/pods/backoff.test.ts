import {describe, expect, test} from 'vitest';
import {ageMs} from '../age.ts';
import {Backoff, goSeconds} from './backoff.ts';

describe('what keeps failing', () => {
  test('is held for twice as long each time, up to five minutes, and for ten seconds again after a long calm', () => {
    const backoff = new Backoff();
    const delays: number[] = [];
    let failedAt = 1_000_000;
    for (let index = 0; index < 7; index++) {
      backoff.next('c', failedAt);
      delays.push(backoff.held('c', failedAt)!.delayMs / 1000);
      failedAt += 60_000;
    }
    expect(delays).toEqual([10, 20, 40, 80, 160, 300, 300]);
    failedAt += 600_000;
    backoff.next('c', failedAt);
    expect(backoff.held('c', failedAt)!.delayMs).toBe(10_000);
    backoff.forget('c');
    expect(backoff.held('c', failedAt)).toBeUndefined();
  });

  test('is as old as anything when the clock was set back', () => {
    expect(ageMs(10_000, 12_500)).toBe(2500);
    expect(ageMs(10_000.9, 10_000)).toBe(0);
    expect(ageMs(3_600_000, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  test('is told in whole seconds as Go prints them', () => {
    expect([10_000, 80_000, 160_000, 300_000].map(goSeconds)).toEqual(['10s', '1m20s', '2m40s', '5m0s']);
  });
});
