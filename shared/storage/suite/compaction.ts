/** What is forgotten, and what never. */

import {expect, test} from 'vitest';
import {create, failureOf, keysOf, Listener, pods, remove, told, until, update} from './helpers.ts';
import type {Suite} from './suite.ts';

export function compaction({opened}: Suite): void {
  test('compaction forgets history and keeps every live image', async () => {
    const {store} = await opened();
    const a = await create(store, 'n/a', 'one', {labels: {v: '1'}});
    const b = await create(store, 'n/b');
    const a2 = await update(store, 'n/a', a.revision, 'two', {labels: {v: '2'}});
    const gone = await remove(store, 'n/b', b.revision);
    const a3 = await update(store, 'n/a', a2.revision, 'three', {labels: {v: '3'}});
    expect(await store.compactedThrough(pods)).toBe(0);
    await store.compact(a2.revision);
    expect(await store.compactedThrough(pods)).toBe(a2.revision);

    for (const from of [0, a2.revision - 1])
      expect(await failureOf(store.log(pods, from, a3.revision))).toMatchObject({code: 'Compacted', revision: a2.revision});
    expect(await failureOf(store.scan(pods, {prefix: '', at: b.revision}))).toMatchObject({code: 'Compacted', revision: a2.revision});
    expect((await failureOf(store.subscribe(pods, b.revision, new Listener()))).code).toBe('Compacted');

    expect(keysOf(await store.scan(pods, {prefix: '', at: a2.revision}))).toEqual(['n/a', 'n/b']);
    expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['n/a']);
    const log = await store.log(pods, a2.revision, a3.revision);
    expect(told(log)).toEqual([`delete n/b ${gone.revision}`, `update n/a ${a3.revision}`]);
    expect(log.map((change) => change.previousIndex)).toEqual([{}, {labels: {v: '2'}}]);

    await store.compact(a3.revision);
    expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['n/a']);
    expect(await store.log(pods, a3.revision, a3.revision + 10)).toEqual([]);
    expect(await store.counts()).toEqual(new Map([[pods, 1]]));
    const fork = await store.fork();
    expect(await fork.counts()).toEqual(new Map([[pods, 1]]));
    expect(await fork.scan(pods, {prefix: ''})).toEqual(await store.scan(pods, {prefix: ''}));
    await fork.close();
  });

  test('it never goes beyond the head nor back, and its revisions are not used again', async () => {
    const {store} = await opened();
    const a = await create(store, 'a');
    const gone = await remove(store, 'a', a.revision);
    await store.compact(gone.revision + 1000);
    expect(await store.compactedThrough(pods)).toBe(gone.revision);
    await store.compact(1);
    expect(await store.compactedThrough(pods)).toBe(gone.revision);
    expect(await store.head(pods)).toBe(gone.revision);
    expect((await store.scan(pods, {prefix: ''})).revision).toBe(gone.revision);
    expect((await create(store, 'a')).revision).toBeGreaterThan(gone.revision);
  });

  test('by time: what is older goes, what is young stays', async () => {
    const {store, clock} = await opened();
    const old = await create(store, 'old');
    await create(store, 'elsewhere', '', {}, 'services');
    clock.advance(60_000);
    const young = await update(store, 'old', old.revision);
    clock.advance(60_000);
    const compacted = await store.compactBefore(clock.now() - 90_000);
    expect(compacted).toBe(young.revision - 1);
    expect(told(await store.log(pods, compacted, young.revision))).toEqual([`update old ${young.revision}`]);
    expect(await store.compactBefore(0)).toBe(compacted);
    expect(await store.compactBefore(clock.now())).toBe(young.revision);
  });

  test('a clock that went back does not make the young old', async () => {
    const {store, clock} = await opened();
    const start = clock.now();
    const first = await create(store, 'first');
    clock.advance(60_000);
    const second = await create(store, 'second');
    const third = await create(store, 'third');
    expect(await store.compactBefore(start + 30_000)).toBe(first.revision);
    expect(told(await store.log(pods, first.revision, third.revision))).toEqual([
      `create second ${second.revision}`,
      `create third ${third.revision}`,
    ]);
  });

  test('writers and subscribers go on while much is compacted', async () => {
    const {store} = await opened();
    let {revision} = await create(store, 'hot');
    for (let n = 0; n < 1500; n++) revision = (await update(store, 'hot', revision)).revision;
    const listener = new Listener();
    const subscription = await store.subscribe(pods, revision, listener);
    const compacting = store.compact(revision);
    for (let n = 0; n < 50; n++) revision = (await update(store, 'hot', revision)).revision;
    await compacting;
    await until(() => listener.seen.length === 50);
    expect(listener.error).toBeUndefined();
    expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['hot']);
    subscription.close();
  });

  test('a subscriber that compaction overtakes is told so, and misses nothing silently', async () => {
    const {store} = await opened();
    for (let n = 0; n < 1200; n++) await create(store, `${n}`);
    const head = await store.head(pods);
    const listener = new Listener();
    const subscription = await store.subscribe(pods, 0, listener);
    await store.compact(head);
    await until(() => listener.error !== undefined || listener.through >= head);
    if (listener.error) expect(listener.error).toMatchObject({code: 'Compacted', revision: head});
    else expect(listener.seen).toHaveLength(1200);
    listener.seen.forEach((change, n) => {
      expect(change.key).toBe(`${n}`);
    });
    subscription.close();
  });
}
