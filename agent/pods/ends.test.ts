import {describe, expect, test} from 'vitest';
import {FakeRuntime} from '../runtime/fake.ts';
import type {Pod} from './pod.ts';
import {containerOf, fakeNode, podOf} from './testing.ts';

const uid = podOf().metadata.uid;
const sidecar = (name: string, more: object = {}) => containerOf(name, {restartPolicy: 'Always', ...more});

function gate() {
  let open = () => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {promise, open};
}

/** Runs the pod, deletes it, and tells what its containers were asked for, in order. */
async function endOf(pod: Pod, seconds: number, stubborn: readonly string[] = []) {
  const runtime = new FakeRuntime(['img:1']);
  const asked: {name: string; graceSeconds: number}[] = [];
  const held = new Map(stubborn.map((name) => [name, gate()]));
  const node = await fakeNode(runtime);
  node.api(pod);
  await node.until(
    () => node.latest()?.phase === 'Running' && node.latest()?.containerStatuses?.every(({ready}) => ready) === true,
    'running',
  );
  const names = new Map([...node.manager.worker(uid)!.view.all()].map(({id, name}) => [id, name]));
  const stop = runtime.stopContainer.bind(runtime);
  runtime.stopContainer = async (id, graceSeconds) => {
    const name = names.get(id)!;
    asked.push({name, graceSeconds});
    await held.get(name)?.promise;
    await stop(id, graceSeconds);
  };
  node.manager.changed({
    ...pod,
    metadata: {...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: seconds},
  });
  return {
    node,
    runtime,
    asked: () => asked.map(({name}) => name),
    grace: (name: string) => asked.find((entry) => entry.name === name)?.graceSeconds,
    let: (name: string) => held.get(name)?.open(),
    gone: () => node.until(() => node.manager.worker(uid) === undefined, 'gone'),
  };
}

const pod = (more: object = {}): Pod =>
  podOf({initContainers: [sidecar('first'), sidecar('second', more)], containers: [containerOf('a'), containerOf('b')]});

describe('containers of a pod that is deleted', () => {
  test('end all at once, and sidecars after them, the last to start first', async () => {
    const end = await endOf(pod(), 30, ['a', 'second']);
    await end.node.until(() => end.asked().length === 2, 'app containers are asked');
    expect(end.asked().sort()).toEqual(['a', 'b']);
    expect(end.node.events.filter((event) => event.startsWith('Normal Killing'))).toHaveLength(4);
    end.let('a');
    await end.node.until(() => end.asked().length === 3, 'the next');
    expect(end.asked()[2]).toBe('second');
    end.let('second');
    await end.gone();
    expect(end.asked()[3]).toBe('first');
  });

  test('have their hooks run at once, sidecars too, though their turn has not come', async () => {
    const end = await endOf(pod({lifecycle: {preStop: {exec: {command: ['hook']}}}}), 30, ['a']);
    await end.node.until(() => end.runtime.calls.includes('exec hook'), 'the hook');
    expect(end.asked()).not.toContain('second');
    await end.node.until(() => end.asked().includes('a'), 'the app container is asked');
    end.let('a');
    await end.gone();
  });

  test('are given two seconds at least, even when no time is left', async () => {
    const end = await endOf(pod(), 0);
    await end.gone();
    for (const name of ['a', 'b', 'first', 'second']) expect(end.grace(name)).toBe(2);
  });

  test('go when the grace is over, whoever is before them', async () => {
    const end = await endOf(pod(), 1, ['a']);
    await end.node.until(() => end.asked().length === 4, 'all are asked');
    end.let('a');
    await end.gone();
  });

  test('that a second request hurries need not wait for the first grace', async () => {
    const end = await endOf(pod(), 3600, ['a']);
    await end.node.until(() => end.asked().includes('a'), 'asked');
    end.node.manager.worker(uid)!.terminate(0, true);
    await end.node.until(() => end.asked().includes('first'), 'all are asked');
    end.let('a');
    await end.gone();
  });

  test('whose stop is answered by nothing have ended all the same when the runtime says so', async () => {
    const runtime = new FakeRuntime(['img:1']);
    const node = await fakeNode(runtime);
    node.api(podOf());
    await node.until(() => node.latest()?.phase === 'Running', 'running');
    const stop = runtime.stopContainer.bind(runtime);
    runtime.stopContainer = async (id, seconds) => {
      await stop(id, seconds);
      throw new Error('ttrpc: closed');
    };
    node.manager.removed(podOf());
    await node.until(() => node.manager.worker(uid) === undefined, 'gone');
    expect(node.events.filter((event) => event.startsWith('log'))).toEqual([]);
  });
});
