import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {ManualClock} from '../../shared/clock.ts';
import type {ApiClient} from '../api/client.ts';
import {type FakeApi, fakeApi, passTime, quiet} from '../api/testing.ts';
import {ApiRecorder} from './recorder.ts';

describe('events', () => {
  let api: FakeApi;
  let clock: ManualClock;
  let client: ApiClient;
  let recorder: ApiRecorder;
  let errors: string[];

  const about = (name: string) => ({kind: 'Pod', namespace: 'ns', name, uid: `uid-${name}`});
  const events = () => [...api.objects.values()];
  const made = () => api.count(/^POST/);

  beforeEach(async () => {
    ({api, clock, client} = await fakeApi());
    // What the test before has left under way is not ours.
    const mine: string[] = [];
    errors = mine;
    recorder = new ApiRecorder({
      ...{client, clock, component: 'nodeagent', host: 'n', perSecond: 5, burst: 10},
      onError: (error) => void mine.push(error.message),
    });
  });
  afterEach(async () => {
    client.close();
    await api.stop();
  });

  test('say what happened to whom, and who says so; the same again is a count', async () => {
    for (let time = 0; time < 3; time++) recorder.event(about('a'), 'Warning', 'BackOff', 'again');
    await passTime(clock, () => events()[0]?.['count'] === 3);
    expect(events()).toMatchObject([
      {
        ...{kind: 'Event', type: 'Warning', reason: 'BackOff', message: 'again', reportingComponent: 'nodeagent'},
        source: {component: 'nodeagent', host: 'n'},
        involvedObject: {kind: 'Pod', namespace: 'ns', name: 'a', uid: 'uid-a'},
      },
    ]);
    expect(made()).toBe(1);
  });

  test('are made anew where the API has dropped the one that was counted', async () => {
    recorder.event(about('a'), 'Normal', 'Pulled', 'x');
    await passTime(clock, () => events().length === 1);
    await quiet();
    for (const path of [...api.objects.keys()]) api.remove(path);
    recorder.event(about('a'), 'Normal', 'Pulled', 'x');
    await passTime(clock, () => events().length === 1);
    expect([made(), errors]).toEqual([2, []]);
  });

  test('wait while there is more urgent work, but not for ever', async () => {
    let busy = true;
    recorder = new ApiRecorder({
      ...{client, clock, component: 'nodeagent', host: 'n', perSecond: 5, burst: 10},
      onError: (error) => void errors.push(error.message),
      isBusy: () => busy,
    });
    recorder.event(about('a'), 'Normal', 'Pulled', 'x');
    for (let step = 0; step < 20; step++) {
      clock.advance(100);
      await quiet(1);
    }
    expect(made()).toBe(0);
    busy = false;
    await passTime(clock, () => made() === 1);
    busy = true;
    recorder.event(about('b'), 'Normal', 'Pulled', 'x');
    await passTime(clock, () => made() === 2);
  });

  test('of what went wrong wait for nothing, and take along what came before', async () => {
    recorder = new ApiRecorder({
      ...{client, clock, component: 'nodeagent', host: 'n', perSecond: 5, burst: 10},
      onError: (error) => void errors.push(error.message),
      isBusy: () => true,
    });
    for (const reason of ['Pulled', 'Failed']) recorder.event(about('a'), reason === 'Failed' ? 'Warning' : 'Normal', reason, 'x');
    await recorder.warned('uid-a');
    expect(events().map(({reason}) => reason)).toContain('Failed');
    expect(recorder.warned('uid-a')).toBeUndefined();
    await passTime(clock, () => events().length === 2);
  });

  test('go at the rate that was set: the burst at once, then so many a second', async () => {
    for (let pod = 0; pod < 30; pod++) recorder.event(about(`p${pod}`), 'Normal', 'Started', 'x');
    clock.advance(150);
    while (made() < 10) await quiet(1);
    await quiet();
    expect(made()).toBe(10);
    const start = clock.now();
    await passTime(clock, () => made() === 30, 50);
    expect(clock.now() - start).toBeGreaterThanOrEqual(3_800);
  });

  test('of one object that never stops complaining do not drown those of others', async () => {
    for (let time = 0; time < 100; time++) recorder.event(about('noisy'), 'Warning', 'Unhealthy', `try ${time}`);
    recorder.event(about('quiet'), 'Normal', 'Started', 'x');
    await passTime(clock, () => made() === 26);
    clock.advance(60_000);
    await quiet();
    expect([made(), events().some(({reason}) => reason === 'Started')]).toEqual([26, true]);
  });

  test('hold nobody up: while the API is gone they are lost, and said', async () => {
    await api.stop();
    recorder.event(about('a'), 'Normal', 'Started', 'lost');
    await passTime(clock, () => errors.length === 1);
    await api.start();
    recorder.event(about('a'), 'Normal', 'Started', 'heard');
    await passTime(clock, () => events().length === 1);
    expect(events()[0]).toMatchObject({message: 'heard'});
  });

  test('are cut where they are too long, and of a node without a namespace stand in default', async () => {
    recorder.event({kind: 'Node', name: 'n', uid: 'n'}, 'Normal', 'Starting', 'x'.repeat(5_000));
    await passTime(clock, () => events().length === 1);
    expect([[...api.objects.keys()][0], (events()[0]!['message'] as string).length]).toEqual([
      expect.stringMatching(/^\/api\/v1\/namespaces\/default\/events\/n\./),
      1_024,
    ]);
  });
});
