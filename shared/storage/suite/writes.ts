/** What an append promises. */

import {expect, test} from 'vitest';
import {maxImageBytes, maxKeyBytes} from '../limits.ts';
import {bytes, create, failureOf, pods, remove, textOf, update} from './helpers.ts';
import type {Suite} from './suite.ts';

export function writes({opened}: Suite): void {
  test('a created object is read back as it was encoded for its revision', async () => {
    const {store} = await opened();
    const index = {labels: {app: 'web'}, fields: {'status.phase': 'Running'}};
    const stored = await create(store, 'default/a', 'hello', index);
    expect(stored.revision).toBeGreaterThan(0);
    expect(textOf(stored)).toBe(`${stored.revision} hello`);
    expect(stored.index).toEqual(index);
    const read = await store.read(pods, 'default/a');
    expect(read).toMatchObject({key: 'default/a', revision: stored.revision, index});
    expect(textOf(read)).toBe(textOf(stored));
    expect(await store.read(pods, 'default/b')).toBeUndefined();
    expect(await store.read('services', 'default/a')).toBeUndefined();
  });

  test('creating a taken key says Exists, and what stands there', async () => {
    const {store} = await opened();
    const first = await create(store, 'a', 'first');
    const failure = await failureOf(create(store, 'a', 'second'));
    expect(failure.code).toBe('Exists');
    expect(failure.current).toMatchObject({key: 'a', revision: first.revision});
    expect(textOf(await store.read(pods, 'a'))).toBe(`${first.revision} first`);
  });

  test('an update replaces exactly the image that it names', async () => {
    const {store} = await opened();
    const first = await create(store, 'a', 'one');
    const second = await update(store, 'a', first.revision, 'two');
    expect(second.revision).toBeGreaterThan(first.revision);
    const failure = await failureOf(update(store, 'a', first.revision, 'three'));
    expect(failure.code).toBe('Changed');
    expect(failure.current).toMatchObject({revision: second.revision});
    expect(textOf(await store.read(pods, 'a'))).toBe(`${second.revision} two`);
  });

  test('a delete frees the key, and what comes after is newer', async () => {
    const {store} = await opened();
    const first = await create(store, 'a');
    expect((await failureOf(remove(store, 'a', first.revision + 1000))).code).toBe('Changed');
    const removed = await remove(store, 'a', first.revision, 'last words');
    expect(removed.revision).toBeGreaterThan(first.revision);
    expect(textOf(removed)).toBe(`${removed.revision} last words`);
    expect(await store.read(pods, 'a')).toBeUndefined();
    const again = await create(store, 'a');
    expect(again.revision).toBeGreaterThan(removed.revision);
  });

  test('replacing or deleting what is absent says NotFound', async () => {
    const {store} = await opened();
    const gone = await create(store, 'gone');
    await remove(store, 'gone', gone.revision);
    for (const key of ['never', 'gone']) {
      expect((await failureOf(update(store, key, gone.revision))).code).toBe('NotFound');
      expect((await failureOf(remove(store, key, gone.revision))).code).toBe('NotFound');
    }
  });

  test('the largest image fits, one byte more is TooLarge and changes nothing', async () => {
    const {store} = await opened();
    const write = (key: string, size: number) =>
      store.append({type: pods, key, expected: 'absent', operation: 'put', encode: () => new Uint8Array(size).fill(120), index: {}});
    await write('fits', maxImageBytes);
    expect((await store.read(pods, 'fits'))!.image.length).toBe(maxImageBytes);
    const head = await store.head(pods);
    expect((await failureOf(write('more', maxImageBytes + 1))).code).toBe('TooLarge');
    expect((await failureOf(write('k'.repeat(maxKeyBytes), 1))).code).toBe('TooLarge');
    expect(await store.head(pods)).toBe(head);
    const long = 'k'.repeat(maxKeyBytes - pods.length);
    await write(long, 1);
    expect((await store.scan(pods, {prefix: long.slice(0, 1000)})).items.map((item) => item.key)).toEqual([long]);
  });

  test('an encoder that throws fails its own write and no other', async () => {
    const {store} = await opened();
    const broken = store.append({
      type: pods,
      key: 'broken',
      expected: 'absent',
      operation: 'put',
      encode() {
        throw new TypeError('no');
      },
      index: {},
    });
    const [outcome, good] = await Promise.allSettled([broken, create(store, 'good')]);
    expect(outcome).toMatchObject({status: 'rejected', reason: {message: 'no'}});
    expect(good.status).toBe('fulfilled');
    expect(await store.read(pods, 'broken')).toBeUndefined();
  });

  test('a write whose deadline has passed is not attempted', async () => {
    const {store, clock} = await opened();
    const write = {type: pods, key: 'late', expected: 'absent', operation: 'put', encode: () => bytes('x'), index: {}} as const;
    expect((await failureOf(store.append({...write, deadline: clock.now() - 1}))).code).toBe('Unavailable');
    expect(await store.read(pods, 'late')).toBeUndefined();
  });

  test('of many who create one key, one succeeds; of many who replace one image, one', async () => {
    const {store} = await opened();
    const creators = await Promise.allSettled(Array.from({length: 20}, (_, n) => create(store, 'one', `by ${n}`)));
    const winners = creators.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(winners).toHaveLength(1);
    for (const outcome of creators) if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('Exists');
    const updaters = await Promise.allSettled(Array.from({length: 20}, (_, n) => update(store, 'one', winners[0]!.revision, `by ${n}`)));
    const updated = updaters.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(updated).toHaveLength(1);
    for (const outcome of updaters) if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('Changed');
    expect(textOf(await store.read(pods, 'one'))).toBe(textOf(updated[0]));
  });

  test('every change has a revision of its own, and who writes later gets a higher one', async () => {
    const {store} = await opened();
    const revisions = await Promise.all(
      Array.from({length: 8}, async (_, writer) => {
        const mine: number[] = [];
        for (let n = 0; n < 20; n++) mine.push((await create(store, `${writer}/${n}`)).revision);
        expect(mine).toEqual([...mine].sort((a, b) => a - b));
        return mine;
      }),
    );
    expect(new Set(revisions.flat()).size).toBe(160);
    expect(await store.head(pods)).toBe(Math.max(...revisions.flat()));
  });

  test('closing finishes what was queued; afterwards everything is Unavailable', async () => {
    const {store} = await opened();
    const queued = Promise.allSettled(Array.from({length: 50}, (_, n) => create(store, `${n}`)));
    await store.close();
    for (const outcome of await queued) if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('Unavailable');
    await store.close();
    expect((await failureOf(create(store, 'late'))).code).toBe('Unavailable');
    expect((await failureOf(store.read(pods, '1'))).code).toBe('Unavailable');
    expect((await failureOf(store.scan(pods, {prefix: ''}))).code).toBe('Unavailable');
  });
}
