/** What the log and subscriptions promise. */

import {expect, test} from 'vitest';
import {create, failureOf, Listener, pods, remove, told, until, update} from './helpers.ts';
import type {Suite} from './suite.ts';

export function changes({opened}: Suite): void {
  test('the log tells each change with what it replaced', async () => {
    const {store, clock} = await opened();
    const a = await create(store, 'a', 'one', {labels: {v: '1'}});
    await create(store, 'other', '', {}, 'services');
    const b = await update(store, 'a', a.revision, 'two', {labels: {v: '2'}, fields: {f: 'x'}});
    const c = await remove(store, 'a', b.revision, 'gone', {labels: {v: '3'}});
    const log = await store.log(pods, 0, c.revision);
    expect(told(log)).toEqual([`create a ${a.revision}`, `update a ${b.revision}`, `delete a ${c.revision}`]);
    expect(log.map((change) => change.previousRevision)).toEqual([0, a.revision, b.revision]);
    expect(log.map((change) => change.previousIndex)).toEqual([undefined, {labels: {v: '1'}}, {labels: {v: '2'}, fields: {f: 'x'}}]);
    expect(log.map((change) => change.index.labels?.['v'])).toEqual(['1', '2', '3']);
    expect(log.map((change) => Buffer.from(change.image).toString())).toEqual([
      `${a.revision} one`,
      `${b.revision} two`,
      `${c.revision} gone`,
    ]);
    for (const change of log) expect(change.time).toBe(clock.now());
  });

  test('the log is asked for (from, to], at most so many', async () => {
    const {store} = await opened();
    const revisions: number[] = [];
    for (let n = 0; n < 10; n++) revisions.push((await create(store, `${n}`)).revision);
    const keys = async (from: number, to: number, limit?: number) => (await store.log(pods, from, to, limit)).map((change) => change.key);
    expect(await keys(revisions[2]!, revisions[5]!)).toEqual(['3', '4', '5']);
    expect(await keys(revisions[2]!, Number.MAX_SAFE_INTEGER, 2)).toEqual(['3', '4']);
    expect(await keys(revisions[9]!, revisions[9]! + 100)).toEqual([]);
    expect(await keys(revisions[5]!, revisions[2]!)).toEqual([]);
  });

  test('a subscriber gets the past, then the present, each change once and in order', async () => {
    const {store} = await opened();
    for (let n = 0; n < 700; n++) await create(store, `past${n}`);
    const writers = Promise.all(
      Array.from({length: 5}, async (_, writer) => {
        for (let n = 0; n < 60; n++) await create(store, `live${writer}-${n}`);
      }),
    );
    const listener = new Listener();
    const subscription = await store.subscribe(pods, 0, listener);
    expect(listener.batches).toBe(0);
    await writers;
    const head = await store.head(pods);
    await until(() => listener.through >= head, 'the last change');
    expect(told(listener.seen)).toEqual(told(await store.log(pods, 0, head)));
    expect(listener.seen).toHaveLength(1000);
    subscription.close();
  });

  test('a subscriber hears of its own type only, from where it wants', async () => {
    const {store} = await opened();
    await create(store, 'before');
    const {revision} = await create(store, 'from');
    const listener = new Listener();
    const subscription = await store.subscribe(pods, revision, listener);
    await create(store, 'elsewhere', '', {}, 'services');
    const next = await create(store, 'next');
    await until(() => listener.seen.length > 0);
    expect(told(listener.seen)).toEqual([`create next ${next.revision}`]);
    subscription.close();
    subscription.close();
    await create(store, 'unheard');
    await until(() => true);
    expect(listener.seen).toHaveLength(1);
    expect(listener.error).toBeUndefined();
  });

  test('a change carries to subscribers what the log says of it', async () => {
    const {store} = await opened();
    const listener = new Listener();
    const subscription = await store.subscribe(pods, 0, listener);
    const a = await create(store, 'a', 'one', {labels: {v: '1'}});
    const b = await update(store, 'a', a.revision, 'two', {labels: {v: '2'}});
    const c = await remove(store, 'a', b.revision, 'gone', {labels: {v: '3'}});
    await until(() => listener.seen.length === 3);
    expect(listener.seen).toEqual(await store.log(pods, 0, c.revision));
    subscription.close();
  });

  test('a subscriber from the future waits for it', async () => {
    const {store} = await opened();
    const {revision} = await create(store, 'a');
    const listener = new Listener();
    const subscription = await store.subscribe(pods, revision + 2, listener);
    await create(store, 'b');
    await create(store, 'c');
    const d = await create(store, 'd');
    await until(() => listener.seen.length > 0);
    expect(told(listener.seen)).toEqual([`create d ${d.revision}`]);
    subscription.close();
  });

  test('an event is not ahead of reads: what a subscriber was told can be read', async () => {
    const {store} = await opened();
    const checks: Promise<void>[] = [];
    const subscription = await store.subscribe(pods, 0, {
      changes(seen) {
        for (const {key, revision} of seen)
          checks.push(store.read(pods, key).then((stored) => expect(stored!.revision).toBeGreaterThanOrEqual(revision)));
      },
      ended() {},
    });
    for (let n = 0; n < 20; n++) await create(store, `${n}`);
    await until(() => checks.length === 20);
    await Promise.all(checks);
    subscription.close();
  });

  test('a subscriber that throws ends itself and hurts nobody', async () => {
    const {store} = await opened();
    let ended = 0;
    const clumsy = await store.subscribe(pods, 0, {
      changes(seen) {
        if (seen.length > 0) throw new TypeError('clumsy');
      },
      ended() {
        ended++;
      },
    });
    const listener = new Listener();
    const subscription = await store.subscribe(pods, 0, listener);
    await create(store, 'a');
    await create(store, 'b');
    await until(() => listener.seen.length === 2);
    expect(ended).toBeLessThanOrEqual(1);
    clumsy.close();
    subscription.close();
  });

  test('closing the store ends its subscriptions with Unavailable', async () => {
    const {store} = await opened();
    await create(store, 'a');
    const listener = new Listener();
    await store.subscribe(pods, 0, listener);
    await until(() => listener.seen.length === 1);
    await store.close();
    await until(() => listener.error !== undefined);
    expect(listener.error!.code).toBe('Unavailable');
    expect((await failureOf(store.subscribe(pods, 0, listener))).code).toBe('Unavailable');
  });
}
