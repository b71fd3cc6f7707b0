import {spawn, spawnSync} from 'node:child_process';
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {scratch} from '../testing.ts';
import {takeLock} from './lock.ts';

/** What the machine lacks is said by the name of the suite that is skipped. */
const hasFlock = spawnSync('flock', ['--version']).status === 0;
const isFree = (file: string): boolean => spawnSync('flock', ['--nonblock', file, 'true']).status === 0;

describe.skipIf(!hasFlock)('a lock file (needs flock)', () => {
  let file: string;
  let clock: ManualClock;
  beforeEach(async () => {
    file = join(await scratch('nodeagent-lock-'), 'lock');
    clock = new ManualClock();
  });

  test('is held until it is let go, and who comes second waits for that', async () => {
    const release = await takeLock({file, clock});
    expect(isFree(file)).toBe(false);
    const order: string[] = [];
    const second = takeLock({file, clock}).then((next) => {
      order.push('second');
      return next;
    });
    order.push('first lets go');
    await release();
    const next = await second;
    expect([order, isFree(file)]).toEqual([['first lets go', 'second'], false]);
    await next();
    expect(isFree(file)).toBe(true);
  });

  const contention = async (happens: () => void | Promise<void>): Promise<string> => {
    let said: string | undefined;
    const onContention = (why: string) => {
      said = why;
    };
    const release = await takeLock({file, clock, onContention});
    await happens();
    while (said === undefined) {
      clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await release();
    return said;
  };

  test('is given up when another process wants it', async () => {
    let ended: Promise<unknown> = Promise.resolve();
    const come = () => {
      const waiter = spawn('flock', [file, 'true']);
      ended = new Promise((resolve) => waiter.once('exit', resolve));
    };
    expect(await contention(come)).toMatch(/^another process wants the lock/);
    await ended;
  });

  test('is given up when it is gone', async () => {
    expect(await contention(() => rm(file))).toMatch(/lock is gone$/);
  });

  test('that cannot be made is an error with its name', async () => {
    await expect(takeLock({file: join(file, 'below'), clock})).rejects.toThrow(/below/);
  });
});
