import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {systemClock} from '../../shared/clock.ts';
import type {ApiClient} from '../api/client.ts';
import {Heartbeat, renewIntervalMs} from './heartbeat.ts';

let beats: number[];
let heartbeat: Heartbeat;
const start = Date.UTC(2026, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({now: start});
  beats = [];
  const client = {
    async request(_method: string, _path: string, {body}: {body?: object}) {
      if (body) beats.push((Date.now() - start) / 1_000);
      return body ?? {metadata: {name: 'n1'}};
    },
  } as unknown as ApiClient;
  heartbeat = new Heartbeat({
    client,
    clock: systemClock,
    name: 'n1',
    nodeUid: () => undefined,
    onError: (error) => expect(error).toBeUndefined(),
  }).start();
});
afterEach(() => {
  heartbeat.stop();
  vi.useRealTimers();
});

test('a lease is renewed every ten seconds', async () => {
  await vi.advanceTimersByTimeAsync(30_000);
  expect(beats).toEqual([0, 10, 20, 30]);
});

test('where a connection tells of the node it is renewed as the connection begins, and rarely after that', async () => {
  await vi.advanceTimersByTimeAsync(5_000);
  heartbeat.told(3_600);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(beats).toEqual([0, 5, 3_605]);
});

test('a connection that is back soon costs no renewal but its own; one that stays away is made up for', async () => {
  heartbeat.told(3_600);
  await vi.advanceTimersByTimeAsync(60_000);
  const before = beats.length;
  heartbeat.told(undefined);
  await vi.advanceTimersByTimeAsync(2_000);
  heartbeat.told(3_600);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(beats.length).toBe(before + 1);
  heartbeat.told(undefined);
  await vi.advanceTimersByTimeAsync(2 * renewIntervalMs);
  expect(beats.length).toBe(before + 3);
});
