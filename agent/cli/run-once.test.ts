import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import type {Pod, PodStatus} from '../pods/pod.ts';
import {podOf} from '../pods/testing.ts';
import type {PodWorker} from '../pods/worker.ts';
import {runOnce} from './run-once.ts';

const container = (name: string, state: object) => ({name, state, lastState: {}, ready: true, restartCount: 0, image: '', imageID: ''});
const statusOf = (phase: string, state: object, more: object = {}) =>
  ({phase, containerStatuses: [container('c', state)], ...more}) as unknown as PodStatus;

describe('running once', () => {
  const run = async (statuses: Record<string, PodStatus | undefined>, problems: string[] = [], later: Record<string, PodStatus> = {}) => {
    const clock = new ManualClock();
    const lines: string[] = [];
    const now = {...statuses};
    let code: number | undefined;
    const done = runOnce({
      clock,
      say: (line) => void lines.push(line),
      manager: {worker: (uid) => ({pod: {status: now[uid]} as unknown as Pod}) as PodWorker},
      statics: {heard: Promise.resolve(), pods: Object.keys(statuses).map((uid) => podOf({}, {name: uid, uid})), problems},
    }).then((result) => {
      code = result;
    });
    const turn = () => new Promise(setImmediate);
    await turn();
    Object.assign(now, later);
    for (let seconds = 0; seconds < 300 && code === undefined; seconds++) {
      clock.advance(1_000);
      await turn();
    }
    await done;
    return [code, lines];
  };

  test('ends well when all run or have succeeded, with a line for each as it is decided', async () => {
    const soon = statusOf('Pending', {waiting: {reason: 'ContainerCreating'}});
    const running = statusOf('Running', {running: {}});
    expect(await run({a: soon, b: statusOf('Succeeded', {terminated: {exitCode: 0}})}, [], {a: running})).toEqual([
      0,
      ['ns/b: Succeeded', 'ns/a: Running'],
    ]);
    expect(await run({})).toEqual([0, []]);
  });

  test('ends with 1 and the reason for what has failed, at once', async () => {
    const failed = statusOf('Failed', {terminated: {exitCode: 3, reason: 'Error'}});
    expect(await run({a: failed, b: statusOf('Failed', {}, {reason: 'OutOfcpu', message: 'too much'})})).toEqual([
      1,
      ['ns/a: Failed: c ended with 3 (Error)', 'ns/b: Failed: OutOfcpu: too much'],
    ]);
  });

  test('gives up what does not come to run, and says what holds it', async () => {
    const held = statusOf('Running', {waiting: {reason: 'CrashLoopBackOff', message: 'back-off 10s'}});
    expect(await run({a: held, b: undefined})).toEqual([
      1,
      ['ns/a: does not run: c waits: CrashLoopBackOff: back-off 10s', 'ns/b: does not run: the container runtime has not been heard'],
    ]);
  });

  test('ends with 1 where a source could not be read, though the pods of the others run', async () => {
    expect(await run({a: statusOf('Running', {running: {}})}, ['cannot read x'])).toEqual([1, ['error: cannot read x', 'ns/a: Running']]);
  });
});
