/** What scans and counts promise. */

import {expect, test} from 'vitest';
import type {Store, Stored} from '../contract.ts';
import {seededRandom} from '../faults.ts';
import {create, failureOf, keysOf, Listener, pods, remove, textOf, until, update} from './helpers.ts';
import type {Suite} from './suite.ts';

/** Follows continue positions to the end, as a client that lists in chunks does. */
async function chunks(store: Store, prefix: string, limit: number, at?: number, between?: () => Promise<unknown>) {
  const keys: string[] = [];
  const remaining: number[] = [];
  let after: string | undefined;
  let revision = at;
  for (;;) {
    const page = await store.scan(pods, {
      prefix,
      limit,
      ...(after !== undefined && {after}),
      ...(revision !== undefined && {at: revision}),
    });
    revision = page.revision;
    keys.push(...page.items.map((item) => `${item.key}=${textOf(item)}`));
    if (!page.more) return {keys, remaining, revision};
    remaining.push(page.remaining!);
    after = page.items.at(-1)!.key;
    await between?.();
  }
}

export function reads({opened}: Suite): void {
  test('an empty type is an empty list', async () => {
    const {store} = await opened();
    const {revision, ...empty} = await store.scan(pods, {prefix: ''});
    expect(empty).toEqual({items: [], more: false});
    expect(await store.head(pods)).toBe(revision);
    expect(await store.counts()).toEqual(new Map());
    const listener = new Listener();
    await store.subscribe(pods, revision, listener);
    const first = await create(store, 'a');
    expect(first.revision).toBeGreaterThan(revision);
    await until(() => listener.seen.length > 0);
    expect(listener.seen.map(({key}) => key)).toEqual(['a']);
  });

  test('keys are ordered by their bytes', async () => {
    const {store} = await opened();
    const keys = ['a', 'a-b', 'a/b', 'a/c', 'ab', 'b', 'é', '\ue000', '\u{1f600}'];
    for (const key of [...keys].reverse()) await create(store, key);
    expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(keys);
    expect(keysOf(await store.scan(pods, {prefix: '', after: 'é'}))).toEqual(['\ue000', '\u{1f600}']);
    expect(keysOf(await store.scan(pods, {prefix: 'a'}))).toEqual(['a', 'a-b', 'a/b', 'a/c', 'ab']);
  });

  test('a prefix is a namespace and not its neighbours, and types do not mix', async () => {
    const {store} = await opened();
    for (const key of ['a/x', 'a/y', 'a-b/x', 'ab/x', 'b/x']) await create(store, key);
    await create(store, 'a/x', 'other', {}, 'pods.other');
    await create(store, 'a/x', 'other', {}, 'pod');
    expect(keysOf(await store.scan(pods, {prefix: 'a/'}))).toEqual(['a/x', 'a/y']);
    expect(keysOf(await store.scan('pod', {prefix: ''}))).toEqual(['a/x']);
    expect(await store.counts()).toEqual(
      new Map([
        ['pods', 5],
        ['pods.other', 1],
        ['pod', 1],
      ]),
    );
  });

  test('after is exclusive, wherever it lies', async () => {
    const {store} = await opened();
    for (const key of ['n/a', 'n/b', 'n/d', 'o/a']) await create(store, key);
    const from = async (after: string) => keysOf(await store.scan(pods, {prefix: 'n/', after}));
    expect(await from('n/a')).toEqual(['n/b', 'n/d']);
    expect(await from('n/c')).toEqual(['n/d']);
    expect(await from('n/d')).toEqual([]);
    expect(await from('m/z')).toEqual(['n/a', 'n/b', 'n/d']);
    expect(await from('o/a')).toEqual([]);
  });

  test('limit cuts, more says so, remaining counts what is left', async () => {
    const {store} = await opened();
    for (let n = 0; n < 25; n++) await create(store, `${n % 2 ? 'odd' : 'even'}/${String(n).padStart(2, '0')}`);
    const first = await store.scan(pods, {prefix: '', limit: 10});
    expect(first).toMatchObject({more: true, remaining: 15});
    expect((await chunks(store, '', 10)).remaining).toEqual([15, 5]);
    expect((await chunks(store, 'odd/', 5)).remaining).toEqual([7, 2]);
    expect((await chunks(store, 'odd/1', 2)).remaining).toEqual([3, 1]);
    expect(await store.scan(pods, {prefix: '', limit: 25})).toMatchObject({more: false});
    expect(await store.scan(pods, {prefix: 'odd/', after: 'odd/09', limit: 3})).toMatchObject({more: true, remaining: 4});
    expect(await store.scan(pods, {prefix: '', limit: 0})).toMatchObject({items: [], more: true, remaining: 25});
  });

  test('only what passes the filter counts toward the limit; remaining does not ask it', async () => {
    const {store} = await opened();
    for (let n = 0; n < 30; n++) await create(store, String(n).padStart(2, '0'), '', {labels: {third: String(n % 3)}});
    const scan = await store.scan(pods, {prefix: '', limit: 4, filter: (item) => item.index.labels?.['third'] === '1'});
    expect(keysOf(scan)).toEqual(['01', '04', '07', '10']);
    expect(scan).toMatchObject({more: true, remaining: 19});
    const none = await store.scan(pods, {prefix: '', limit: 4, filter: () => false});
    expect(none).toMatchObject({items: [], more: false});
  });

  test('each older revision can be listed exactly as it was', async () => {
    const {store} = await opened();
    const random = seededRandom(7);
    const live = new Map<string, number>();
    const states = new Map<number, string[]>();
    for (let n = 0; n < 120; n++) {
      const key = `${random() < 0.5 ? 'a' : 'b'}/${Math.floor(random() * 6)}`;
      const known = live.get(key);
      const stored = known === undefined ? create(store, key) : random() < 0.4 ? remove(store, key, known) : update(store, key, known);
      const {revision} = await stored;
      if (known === undefined || (await store.read(pods, key))) live.set(key, revision);
      else live.delete(key);
      // Elsewhere things change too.
      if (n % 10 === 0) await create(store, `${n}`, '', {}, 'services');
      states.set(
        revision,
        [...live].map(([name, at]) => `${name}=${at} ${name}`).sort((x, y) => (x < y ? -1 : 1)),
      );
    }
    for (const [revision, state] of states) {
      const scan = await store.scan(pods, {prefix: '', at: revision});
      expect(scan.revision).toBe(revision);
      expect(scan.items.map((item) => `${item.key}=${textOf(item)}`)).toEqual(state);
      const inA = state.filter((entry) => entry.startsWith('a/'));
      const paged = await chunks(store, 'a/', 2, revision);
      expect(paged.keys).toEqual(inA);
      expect(paged.remaining).toEqual(paged.remaining.map((_, page) => inA.length - 2 * (page + 1)));
    }
  });

  test('a list in chunks is one state, whatever is written between the chunks', async () => {
    const {store} = await opened();
    const stored: Stored[] = [];
    for (let n = 0; n < 40; n++) stored.push(await create(store, `n/${String(n).padStart(2, '0')}`));
    const before = stored.map((item) => `${item.key}=${textOf(item)}`);
    let written = 0;
    const {keys, remaining} = await chunks(store, 'n/', 7, undefined, async () => {
      const n = written++;
      await update(store, stored[39 - n]!.key, stored[39 - n]!.revision, 'changed');
      await remove(store, stored[30 - n]!.key, stored[30 - n]!.revision);
      await create(store, `n/${String(n + 20)}.5`);
    });
    expect(keys).toEqual(before);
    expect(remaining).toEqual([33, 26, 19, 12, 5]);
  });

  test('a long scan is the state at its revision while others write', async () => {
    const {store} = await opened();
    const created = await Promise.all(Array.from({length: 2500}, (_, n) => create(store, `k${String(n).padStart(4, '0')}`)));
    const before = await store.head(pods);
    const scanning = store.scan(pods, {prefix: ''});
    // Queued in the same turn: these land while the scan is on its way.
    const writes = created.flatMap((item, n) =>
      n % 50 === 49 ? [update(store, item.key, item.revision, 'new'), create(store, `${item.key}x`)] : [],
    );
    const scan = await scanning;
    await Promise.all(writes);
    expect(scan.revision).toBeGreaterThanOrEqual(before);
    const again = await store.scan(pods, {prefix: '', at: scan.revision});
    expect(scan.items.map(textOf)).toEqual(again.items.map(textOf));
    expect(scan.items.every((item) => item.revision <= scan.revision)).toBe(true);
  });

  test('a store that is closed meanwhile does not take a scan down with it', async () => {
    const {store} = await opened();
    await Promise.all(Array.from({length: 1500}, (_, n) => create(store, `${n}`)));
    const scanning = Promise.allSettled([store.scan(pods, {prefix: ''}), store.log(pods, 0, 10_000)]);
    await store.close();
    for (const outcome of await scanning) {
      if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('Unavailable');
      else expect('items' in outcome.value ? outcome.value.items : outcome.value).toHaveLength(1500);
    }
  });

  test('a revision from the future is named as such', async () => {
    const {store} = await opened();
    const {revision} = await create(store, 'a');
    const failure = await failureOf(store.scan(pods, {prefix: '', at: revision + 1}));
    expect(failure).toMatchObject({code: 'Future', revision});
    expect(keysOf(await store.scan(pods, {prefix: '', at: revision}))).toEqual(['a']);
  });

  test('images stay what they were, whatever is written after they were handed out', async () => {
    const {store} = await opened();
    await Promise.all(Array.from({length: 300}, (_, n) => create(store, `k${n}`, 'x'.repeat(n * 7))));
    const {items} = await store.scan(pods, {prefix: ''});
    const texts = items.map(textOf);
    const read = await store.read(pods, 'k299');
    const text = textOf(read);
    for (const item of items) await update(store, item.key, item.revision, 'y'.repeat(item.image.length));
    for (const item of items) await store.read(pods, item.key);
    expect(items.map(textOf)).toEqual(texts);
    expect(textOf(read)).toBe(text);
  });

  test('a fork has the same content and history, and a life of its own', async () => {
    const {store} = await opened();
    const a = await create(store, 'n/a', 'one', {labels: {v: '1'}});
    await update(store, 'n/a', a.revision, 'two', {labels: {v: '2'}});
    const b = await create(store, 'n/b');
    const fork = await store.fork();
    expect(await fork.scan(pods, {prefix: ''})).toEqual(await store.scan(pods, {prefix: ''}));
    expect(await fork.log(pods, 0, b.revision)).toEqual(await store.log(pods, 0, b.revision));
    expect(await fork.counts()).toEqual(await store.counts());
    await create(fork, 'n/c');
    const mine = await remove(store, 'n/b', b.revision);
    expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['n/a']);
    expect(keysOf(await fork.scan(pods, {prefix: ''}))).toEqual(['n/a', 'n/b', 'n/c']);
    expect(keysOf(await fork.scan(pods, {prefix: '', at: a.revision}))).toEqual(['n/a']);
    await store.close();
    expect(textOf(await fork.read(pods, 'n/b'))).toBe(`${b.revision} n/b`);
    expect(mine.revision).toBeGreaterThan(b.revision);
    await fork.close();
  });
}
