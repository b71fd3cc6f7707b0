import {describe, expect, test} from 'vitest';
import {FakeRuntime} from '../runtime/fake.ts';
import {DeadContainers, superfluous} from './dead-containers.ts';
import type {Instance} from './plan.ts';
import {containerOf, fakeNode, instanceOf, podOf} from './testing.ts';

/** Newest first, made a second apart. */
function dead(name: string, count: number, newest: 'running' | 'exited' = 'exited'): Instance[] {
  return Array.from({length: count}, (_, index) => {
    const instance = instanceOf(containerOf(name), index === 0 ? newest : 'exited');
    instance.id = `${name}${index}`;
    instance.status.createdAt = (count - index) * 1e9;
    return instance;
  });
}

const ids = (instances: readonly Instance[]) => instances.map(({id}) => id).sort();
const none = {perContainer: -1, total: -1, minAgeMs: 0};

describe('dead containers', () => {
  test('are kept, so many of each', () => {
    expect(ids(superfluous([dead('a', 4, 'running')], {...none, perContainer: 1}, 1e6))).toEqual(['a2', 'a3']);
    expect(ids(superfluous([dead('a', 4)], {...none, perContainer: 1}, 1e6))).toEqual(['a1', 'a2', 'a3']);
    expect(superfluous([dead('a', 4)], none, 1e6)).toEqual([]);
  });

  test('keep the last of each container whatever is agreed', () => {
    expect(ids(superfluous([dead('a', 2)], {...none, perContainer: 0}, 1e6))).toEqual(['a1']);
    expect(superfluous([dead('a', 1), dead('b', 1)], {...none, total: 0}, 1e6)).toEqual([]);
  });

  test('are kept while they are young', () => {
    expect(ids(superfluous([dead('a', 4)], {...none, perContainer: 1, minAgeMs: 3000}, 5000))).toEqual(['a3']);
  });

  test('are so many on the node, shared evenly, the oldest first', () => {
    expect(ids(superfluous([dead('a', 4), dead('b', 2)], {...none, total: 4}, 1e6))).toEqual(['a2', 'a3']);
    expect(ids(superfluous([dead('a', 3, 'running'), dead('b', 3, 'running')], {...none, total: 1}, 1e6))).toEqual(['a1', 'a2', 'b2']);
  });

  test('take a sandbox that was replaced with them', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await fakeNode(runtime);
    node.api(podOf());
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    const worker = node.manager.worker(podOf().metadata.uid)!;
    const old = worker.sandboxId!;
    runtime.loseSandbox(old);
    await node.manager.list();
    await node.until(() => node.latest()?.containerStatuses?.[0]?.restartCount === 1 && node.latest()?.phase === 'Running', 'another');
    await new DeadContainers(node.manager, {perContainer: 0, total: -1, minAgeMs: 0}, Date.now, node.context.log).collect();
    expect((await runtime.sandboxes()).map(({id}) => id)).not.toContain(old);
    expect(await runtime.containers()).toHaveLength(1);
  });
});
