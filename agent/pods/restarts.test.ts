import {expect, test} from 'vitest';
import {FakeRuntime} from '../runtime/fake.ts';
import {restartsAfter} from './restarts.ts';
import {containerOf, fakeNode, podOf} from './testing.ts';

const rule = (operator: string, ...values: number[]) => ({action: 'Restart', exitCodes: {operator, values}});

test.each([
  ['Always', {}, 0, true],
  ['OnFailure', {}, 0, false],
  ['OnFailure', {}, 1, true],
  ['Never', {}, 1, false],
  ['Never', {restartPolicy: 'Always'}, 0, true],
  ['Always', {restartPolicy: 'Never'}, 1, false],
  ['Always', {restartPolicy: 'OnFailure'}, 0, false],
  ['Always', {restartPolicy: 'Never', restartPolicyRules: [rule('In', 42)]}, 42, true],
  ['Always', {restartPolicy: 'Never', restartPolicyRules: [rule('In', 42)]}, 1, false],
  ['Never', {restartPolicy: 'Never', restartPolicyRules: [rule('NotIn', 0, 1)]}, 7, true],
  ['Never', {restartPolicyRules: [rule('In', 42)]}, 42, false],
] as const)('a pod %s with a container %j that exits %i: again %s', (restartPolicy, container, exitCode, again) => {
  expect(restartsAfter(podOf({restartPolicy}).spec, containerOf('c', container as object), exitCode)).toBe(again);
});

test('a pod is over when none of its containers runs again by its own policy, whatever the pod says', async () => {
  const runtime = new FakeRuntime(['img:1']);
  const node = await fakeNode(runtime);
  node.api(
    podOf({
      restartPolicy: 'Always',
      containers: [containerOf('a', {restartPolicy: 'Never'}), containerOf('b', {restartPolicy: 'OnFailure'})],
    }),
  );
  await node.until(() => node.latest()?.phase === 'Running', 'running');
  runtime.exit('a', 1);
  await node.until(() => node.latest()?.containerStatuses?.[0]?.state.terminated?.exitCode === 1, 'the first has ended');
  expect(node.latest()?.phase).toBe('Running');
  runtime.exit('b', 0);
  await node.until(() => node.latest()?.phase === 'Failed', 'over');
  expect(node.latest()?.containerStatuses?.map(({restartCount}) => restartCount)).toEqual([0, 0]);
});

test('a container whose exit code has a rule runs again though its pod never restarts', async () => {
  const runtime = new FakeRuntime(['img:1']);
  const node = await fakeNode(runtime);
  node.api(podOf({restartPolicy: 'Never', containers: [containerOf('c', {restartPolicy: 'Never', restartPolicyRules: [rule('In', 42)]})]}));
  await node.until(() => node.latest()?.phase === 'Running', 'running');
  runtime.exit('c', 42);
  await node.until(() => node.latest()?.containerStatuses?.[0]?.restartCount === 1 && node.latest()?.phase === 'Running', 'again');
  runtime.exit('c', 1);
  await node.until(() => node.latest()?.phase === 'Failed', 'over');
});
