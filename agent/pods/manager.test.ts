import {describe, expect, test, vi} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {FakeRuntime} from '../runtime/fake.ts';
import {RuntimeError} from '../runtime/runtime.ts';
import {fakeNode, podOf} from './testing.ts';

describe('all pods of a node', () => {
  test('are tried again at once when a runtime that was away is back', async () => {
    const runtime = new FakeRuntime(['img:1']);
    // A clock that stands still: whatever is held until later is held for ever.
    const node = await fakeNode(runtime, {clock: new ManualClock()});
    await node.manager.list();
    const gone = new RuntimeError('unavailable', 'nobody answers');
    runtime.fail = {runSandbox: gone};
    node.api(podOf());
    await node.until(() => node.events.some((event) => event.includes('FailedCreatePodSandBox')), 'the sandbox cannot be made');
    vi.spyOn(runtime, 'sandboxes').mockRejectedValueOnce(gone);
    await node.manager.list();
    expect(node.events).toContain('log cannot list the runtime nobody answers');
    runtime.fail = {};
    await node.manager.list();
    await node.until(() => node.latest()?.phase === 'Running', 'the pod runs');
    node.manager.stop();
  });
});
