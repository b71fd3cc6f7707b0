/** When probes run, and what their results add up to, by a clock that is moved. */
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import type {Container, Probe} from '../pods/pod.ts';
import {containerOf, instanceOf, podOf} from '../pods/testing.ts';
import {type Runtime, RuntimeError} from '../runtime/runtime.ts';
import {Prober} from './prober.ts';

type Result = number | 'timeout' | 'broken';

describe('the probes of a container', () => {
  let prober: Prober;
  let ran: string[];
  let told: string[];
  let changes: number;
  let results: Result[];
  let counted: string[];

  beforeEach(() => {
    vi.useFakeTimers({now: Date.UTC(2026, 0, 1)});
    [ran, told, counted, changes, results] = [[], [], [], 0, []];
    const began = Date.now();
    const runtime = {
      exec: async (_id: string, [name]: readonly string[], timeoutSeconds: number) => {
        ran.push(`${name}@${(Date.now() - began) / 1000}`);
        const result = results.length > 1 ? results.shift()! : (results[0] ?? 0);
        if (result === 'timeout') throw new RuntimeError('timeout', `did not end in ${timeoutSeconds}`);
        if (result === 'broken') throw new RuntimeError('unavailable', 'the runtime is gone');
        return {exitCode: result, stdout: Buffer.from('said'), stderr: Buffer.from(' so')};
      },
    } as unknown as Runtime;
    prober = new Prober(runtime, {
      changed: () => {
        changes += 1;
      },
      unhealthy: (_pod, container, message) => told.push(`${container}: ${message}`),
      count: (kind, _pod, container, result) => counted.push(`${kind} ${container} ${result}`),
    });
  });
  afterEach(() => {
    prober.forget('id');
    vi.useRealTimers();
  });

  const probe = (name: string, more: Partial<Probe> = {}): Probe => ({exec: {command: [name]}, ...more});
  const watch = (container: Partial<Container>, {ageMs = 0, wasReady = false, wasStarted = false} = {}) => {
    const made = containerOf('c', container);
    const instance = instanceOf(made, 'running');
    instance.status.startedAt = (Date.now() - ageMs) * 1e6;
    prober.watch(podOf({containers: [made]}), made, {...instance, id: 'id'}, '10.9.0.1', wasReady, wasStarted);
  };
  const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

  test('without any it has started and is ready', () => {
    watch({});
    expect([prober.started('id'), prober.ready('id')]).toEqual([true, true]);
    expect([prober.started('another'), prober.ready('another')]).toEqual([false, false]);
  });

  test('it is ready when the readiness probe has succeeded often enough, and not when it has failed often enough', async () => {
    results = [0, 0, 0, 1, 1, 1, 1];
    watch({readinessProbe: probe('ready', {periodSeconds: 5, successThreshold: 2, failureThreshold: 3})});
    await pass(1);
    expect([ran, prober.ready('id')]).toEqual([['ready@1'], false]);
    await pass(5);
    expect([prober.ready('id'), changes]).toEqual([true, 1]);
    await pass(5 * 3);
    expect(prober.ready('id')).toBe(true);
    await pass(5);
    expect([prober.ready('id'), changes]).toEqual([false, 2]);
    expect(told).toEqual(Array(3).fill('c: Readiness probe failed: said so'));
    expect(ran).toEqual(['ready@1', 'ready@6', 'ready@11', 'ready@16', 'ready@21', 'ready@26']);
  });

  test('one success between failures starts the count anew', async () => {
    results = [1, 1, 0, 1, 1, 0];
    watch({livenessProbe: probe('alive', {periodSeconds: 1, failureThreshold: 3})});
    await pass(10);
    expect(prober.unhealthy('id')).toBeUndefined();
    expect(ran).toHaveLength(10);
  });

  test('liveness that fails for good is a verdict with the probe’s own grace, and is looked at no more', async () => {
    results = [1];
    watch({livenessProbe: probe('alive', {periodSeconds: 2, terminationGracePeriodSeconds: 5})});
    await pass(6);
    expect(prober.unhealthy('id')).toEqual({message: 'Container c failed liveness probe, will be restarted', graceSeconds: 5});
    expect(ran).toEqual(['alive@2', 'alive@4', 'alive@6']);
    await pass(60);
    expect(ran).toHaveLength(3);
    expect(counted).toEqual(Array(3).fill('liveness c failure'));
  });

  test('nothing else is asked before the startup probe has succeeded, and it is not asked again', async () => {
    results = [1, 1, 0];
    watch({
      startupProbe: probe('startup', {periodSeconds: 1, failureThreshold: 30}),
      readinessProbe: probe('ready', {periodSeconds: 1}),
      livenessProbe: probe('alive', {periodSeconds: 1}),
    });
    await pass(2);
    expect([ran, prober.started('id')]).toEqual([['startup@1', 'startup@2'], false]);
    await pass(1);
    expect(prober.started('id')).toBe(true);
    await pass(3);
    expect(ran.filter((name) => name.startsWith('startup'))).toHaveLength(3);
    expect(ran.some((name) => name.startsWith('ready'))).toBe(true);
    expect(ran.some((name) => name.startsWith('alive'))).toBe(true);
  });

  test('a startup that never succeeds is a verdict', async () => {
    results = [1];
    watch({startupProbe: probe('startup', {periodSeconds: 1, failureThreshold: 4}), livenessProbe: probe('alive')});
    await pass(4);
    expect(prober.unhealthy('id')).toEqual({message: 'Container c failed startup probe, will be restarted'});
    expect(ran.every((name) => name.startsWith('startup'))).toBe(true);
  });

  test('the initial delay counts from the start of the container, not from when it was first seen', async () => {
    watch({readinessProbe: probe('ready', {initialDelaySeconds: 60, periodSeconds: 10})}, {ageMs: 50_000});
    await pass(10.9);
    expect(ran).toEqual([]);
    await pass(0.1);
    expect(ran).toEqual(['ready@11']);
  });

  test('a container that seems to have started in the future is not left alone for longer', async () => {
    watch({readinessProbe: probe('ready', {initialDelaySeconds: 5})}, {ageMs: -3_600_000});
    await pass(6);
    expect(ran).toEqual(['ready@6']);
  });

  test('after a restart of the agent it is what it was, until a probe says otherwise', async () => {
    results = [1];
    watch(
      {startupProbe: probe('startup'), readinessProbe: probe('ready', {periodSeconds: 1, failureThreshold: 1})},
      {ageMs: 60_000, wasReady: true, wasStarted: true},
    );
    expect([prober.started('id'), prober.ready('id')]).toEqual([true, true]);
    await pass(1);
    expect(ran[0]).toBe('ready@0');
    expect(prober.ready('id')).toBe(false);
  });

  test('a command that takes too long has failed; a runtime that is gone has not said anything', async () => {
    results = ['timeout', 'broken', 'broken', 'broken', 'broken'];
    watch({livenessProbe: probe('alive', {periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 2})});
    await pass(5);
    expect(told[0]).toBe('c: Liveness probe failed: command timed out: "alive" timed out after 2s');
    expect(told[1]).toBe('c: Liveness probe errored: the runtime is gone');
    expect(prober.unhealthy('id')).toBeUndefined();
    expect(counted).toEqual(['liveness c failure', ...Array(4).fill('liveness c unknown')]);
  });

  test('a port by a name that no port has is a failure', async () => {
    watch({readinessProbe: {httpGet: {port: 'nope'}}});
    await pass(1);
    expect(told).toEqual([expect.stringMatching(/^c: Readiness probe (failed|errored): .*nope/)]);
  });

  test('a container that is forgotten is asked nothing more, not even what is under way', async () => {
    results = [1];
    watch({livenessProbe: probe('alive', {periodSeconds: 1, failureThreshold: 1})});
    vi.advanceTimersByTime(1000);
    prober.forget('id');
    await pass(10);
    expect(ran).toEqual(['alive@1']);
    expect([told, counted, changes]).toEqual([[], [], 0]);
  });
});
