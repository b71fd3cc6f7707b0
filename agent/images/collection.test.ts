import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {FakeRuntime} from '../runtime/fake.ts';
import {type Container, type Image, RuntimeError} from '../runtime/runtime.ts';
import {bytesToFree, ImageRecords, usedPercent} from './collection.ts';
import {ImageCollector} from './collector.ts';

const policy = {high: 85, low: 80, minAgeMs: 120_000};
const image = (name: string, more: Partial<Image> = {}): Image => ({
  ...{id: `sha256:${name}`, repoTags: [`${name}:1`], repoDigests: [`${name}@sha256:${name}`], size: 100, username: '', pinned: false},
  ...more,
});
const container = (imageRef: string): Container => ({
  ...{id: 'c', podSandboxId: 's', metadata: {name: 'c', attempt: 0}, image: {image: imageRef}, imageRef},
  ...{state: 2, createdAt: 0, labels: {}, annotations: {}},
});
const names = (images: readonly Image[]) => images.map(({repoTags}) => repoTags[0]);

describe('images that may go', () => {
  test('are those that nothing uses, whoever made what uses them, the longest unused first', () => {
    const records = new ImageRecords();
    const images = ['a', 'b', 'c', 'd', 'e'].map((name) => image(name));
    const kept = (...refs: string[]) => ({containers: refs.map(container), names: ['e:1']});
    expect(records.candidates(images, kept('sha256:a', 'sha256:b'), 1000, policy.minAgeMs)).toEqual([]);
    records.candidates(images, kept('sha256:a'), 200_000, policy.minAgeMs);
    const later = records.candidates(images, kept('c@sha256:c'), 400_000, policy.minAgeMs);
    expect(names(later)).toEqual(['d:1', 'b:1', 'a:1']);
  });

  test('are none that are pinned, new, without an id, or that a sandbox or a pod here asks for in short', () => {
    const records = new ImageRecords();
    const images = [
      image('p', {pinned: true}),
      image('', {id: ''}),
      image('b', {repoTags: ['docker.io/library/busybox:latest'], repoDigests: []}),
      image('old'),
    ];
    const kept = {containers: [], names: ['busybox', '', 'not a name!']};
    records.candidates(images, kept, 0, policy.minAgeMs);
    expect(names(records.candidates([...images, image('new')], kept, 120_000, policy.minAgeMs))).toEqual(['old:1']);
  });

  test('go from the upper threshold on, down to the lower', () => {
    expect(usedPercent({totalBytes: 1000, availableBytes: 160})).toBe(84);
    expect(bytesToFree({totalBytes: 1000, availableBytes: 160}, policy)).toBe(0);
    expect(bytesToFree({totalBytes: 1000, availableBytes: 150}, policy)).toBe(50);
    expect(bytesToFree({totalBytes: 1000, availableBytes: 5000}, policy)).toBe(0);
  });
});

describe('the collector', () => {
  async function collector(availableBytes: number) {
    const runtime = new FakeRuntime(['old:1', 'older:1', 'pause:1', 'wanted:1']);
    const clock = new ManualClock();
    const events: string[] = [];
    let removed = 0;
    const made = new ImageCollector({
      ...{runtime, clock, policy, node: 'n'},
      log: {error: () => {}, warn: () => {}, info: () => {}, debug: () => {}},
      recorder: {
        event: (about, type, reason, message) => void events.push(`${about.kind} ${type} ${reason} ${message}`),
        warned: () => undefined,
      },
      wanted: () => ['wanted:1'],
      disk: async () => ({totalBytes: 2 ** 40, availableBytes}),
      removed: () => {
        removed += 1;
      },
    });
    await made.look();
    clock.advance(120_000);
    const left = async () => (await runtime.images()).map(({repoTags}) => repoTags[0]);
    return {made, runtime, events, left, removed: () => removed};
  }

  test('leaves everything alone where there is room', async () => {
    const {made, left} = await collector(2 ** 39);
    await made.collect();
    expect(await left()).toHaveLength(4);
  });

  test('never takes what sandboxes are made of, nor what a pod wants, and says when the rest was not enough', async () => {
    const {made, left, events, removed} = await collector(0);
    await expect(made.collect()).rejects.toThrow('Insufficient free disk space');
    expect(await left()).toEqual(['pause:1', 'wanted:1']);
    expect(removed()).toBe(2);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatch(/^Node Warning FreeDiskSpaceFailed .*\(100% of 1.0 TiB used\)/);
  });

  test('removes nothing where the runtime cannot say what it uses', async () => {
    const {made, runtime, left} = await collector(0);
    runtime.containers = async () => {
      throw new RuntimeError('unavailable', 'down');
    };
    await expect(made.collect()).rejects.toThrow('down');
    expect(await left()).toHaveLength(4);
  });

  test('goes on with the next when one cannot be removed', async () => {
    const {made, runtime, left} = await collector(0);
    const remove = runtime.removeImage.bind(runtime);
    runtime.removeImage = async (id) => {
      if ((await runtime.image('old:1'))?.id === id) throw new RuntimeError('failed', 'busy');
      await remove(id);
    };
    await expect(made.collect()).rejects.toThrow('errors in image deletion: busy');
    expect(await left()).toEqual(['old:1', 'pause:1', 'wanted:1']);
  });
});
