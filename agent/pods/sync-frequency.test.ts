import {expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {FakeRuntime} from '../runtime/fake.ts';
import {PodManager} from './manager.ts';
import {fakeNode} from './testing.ts';

test('the runtime is asked for everything as often as told, whatever it says by itself', async () => {
  const {context, manager: other} = await fakeNode(new FakeRuntime());
  other.stop();
  const clock = new ManualClock();
  const manager = new PodManager({context, clock, sources: [], listEveryMs: 5_000});
  const start = clock.now();
  manager.start();
  const listed = async (at: number) => {
    while (manager.listedAt !== start + at) await new Promise(setImmediate);
  };
  await manager.list();
  clock.advance(4_999);
  expect(manager.listedAt).toBe(start);
  clock.advance(1);
  await listed(5_000);
  clock.advance(5_000);
  await listed(10_000);
  manager.stop();
});
