import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {type Priority, TokenBucket} from './token-bucket.ts';

describe('a bucket of tokens', () => {
  const settled = () => new Promise(setImmediate);

  test('lets a burst through at once, then so many a second, by what matters most and then in order', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket(2, 3, clock);
    const gone: string[] = [];
    const take = (name: string, priority?: Priority) => void bucket.take(priority).then(() => gone.push(name));
    for (const name of ['a', 'b', 'c']) take(name);
    take('low', 'low');
    take('first');
    take('second');
    take('high', 'high');
    await settled();
    expect(gone).toEqual(['a', 'b', 'c']);
    for (let turn = 0; turn < 4; turn++) {
      clock.advance(500);
      await settled();
    }
    expect(gone.slice(3)).toEqual(['high', 'first', 'second', 'low']);
  });

  test('has room again for those who give up, and none for those who came too late', async () => {
    const clock = new ManualClock();
    const bucket = new TokenBucket(1, 1, clock);
    expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
    const stop = new AbortController();
    const given = bucket.take('normal', stop.signal);
    const next = bucket.take();
    stop.abort(new Error('not any more'));
    await expect(given).rejects.toThrow('not any more');
    clock.advance(1_000);
    await next;
    await expect(bucket.take('high', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  });

  test('goes on when the clock is set back', async () => {
    const clock = new ManualClock(1_000_000);
    const now = clock.now.bind(clock);
    let back = 0;
    clock.now = () => now() - back;
    const bucket = new TokenBucket(1, 1, clock);
    bucket.tryTake();
    back = 500_000;
    const next = bucket.take();
    clock.advance(1_000);
    await next;
  });
});
