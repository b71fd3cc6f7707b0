/** What is the engine's own, over a backing whose commits take as long as the test wants. */

import {describe, expect, test} from 'vitest';
import {isStoreError, type Store} from '../contract.ts';
import {create, failureOf, keysOf, Listener, pods, remove, textOf, until, update} from '../suite/helpers.ts';
import type {Backing, Commit, State, View} from './backing.ts';
import {Engine} from './engine.ts';
import {MemoryBacking} from './memory.ts';
import {openMemory} from './open.ts';

/** Shows a commit at once, as LMDB may, and is done with it only when the test lets it. */
class SlowBacking implements Backing {
  readonly grouped = true;
  readonly #memory = new MemoryBacking();
  #state: State = this.#memory.state;
  readonly commits: {commit: Commit; finish(): void; fail(error: Error): void}[] = [];
  showsEarly = true;

  get state(): State {
    return this.#state;
  }

  view(type: string, hold: boolean): View {
    const view = this.#memory.view(type, hold);
    const {head} = this.#memory.state;
    return Object.assign(Object.create(view) as View, {shows: (asked: number) => head >= asked}, bound(view));
  }

  commit(commit: Commit, published: () => void): Promise<void> {
    const apply = (): void => this.#memory.commit(commit, () => {});
    if (this.showsEarly) apply();
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        if (!this.showsEarly) apply();
        this.#state = commit.state;
        published();
        resolve();
      };
      this.commits.push({commit, finish, fail: reject});
    });
  }

  isUntouched(error: unknown): boolean {
    return (error as Error).message === 'disk full';
  }

  usable = true;
  isUsable(): boolean {
    return this.usable;
  }

  types(): Map<string, number> {
    return this.#memory.types();
  }

  fork(): Backing {
    return this.#memory.fork();
  }

  async close(): Promise<void> {}
}

/** The view's own methods: private fields do not reach through a prototype. */
const bound = (view: View): Omit<View, 'shows'> => ({
  get: (key) => view.get(key),
  version: (revision) => view.version(revision),
  live: (from, exclusive) => view.live(from, exclusive),
  history: (after, through) => view.history(after, through),
  count: (prefix) => view.count(prefix),
  countBehind: (from, prefix, limit) => view.countBehind(from, prefix, limit),
  release: () => view.release(),
});

async function opened(showsEarly: boolean) {
  const backing = new SlowBacking();
  const store: Store = new Engine(backing);
  const commit = async (): Promise<SlowBacking['commits'][number]> => {
    await until(() => backing.commits.length > 0, 'a commit');
    return backing.commits.shift()!;
  };
  const first = create(store, 'n/a', 'one');
  const kept = create(store, 'n/b', 'kept');
  (await commit()).finish();
  const [a, b] = await Promise.all([first, kept]);
  backing.showsEarly = showsEarly;
  return {backing, store, commit, a, b};
}

for (const showsEarly of [true, false]) {
  describe(`nobody hears of a write before it is durable, ${showsEarly ? 'though the backing shows it' : 'and the backing does not show it'}`, () => {
    test('not a reader, a lister, a log, a subscriber, nor who is refused because of it', async () => {
      const {store, commit, a, b} = await opened(showsEarly);
      const listener = new Listener();
      const subscription = await store.subscribe(pods, b.revision, listener);
      let answered = 0;
      const count = (): void => {
        answered++;
      };
      const writes = [update(store, 'n/a', a.revision, 'two'), remove(store, 'n/b', b.revision), create(store, 'n/c')];
      const refused = failureOf(create(store, 'n/c', 'again'));
      for (const write of writes) void write.then(count);
      void refused.then(count);
      const underWay = await commit();

      const look = async () => ({
        head: await store.head(pods),
        reads: await Promise.all(['n/a', 'n/b', 'n/c'].map(async (key) => textOf(await store.read(pods, key)))),
        list: keysOf(await store.scan(pods, {prefix: ''})),
        page: await store.scan(pods, {prefix: 'n/', limit: 1}).then(({items, remaining}) => [items[0]!.revision, remaining]),
        past: keysOf(await store.scan(pods, {prefix: '', at: a.revision})),
        log: (await store.log(pods, 0, 1_000)).length,
        heard: listener.seen.length,
      });
      expect(await look()).toEqual({
        head: b.revision,
        reads: [`${a.revision} one`, `${b.revision} kept`, undefined],
        list: ['n/a', 'n/b'],
        page: [a.revision, 1],
        past: ['n/a'],
        log: 2,
        heard: 0,
      });
      expect(answered).toBe(0);

      underWay.finish();
      const [changed, , c] = await Promise.all(writes);
      expect(await look()).toEqual({
        head: c!.revision,
        reads: [`${changed!.revision} two`, undefined, `${c!.revision} n/c`],
        list: ['n/a', 'n/c'],
        page: [changed!.revision, 1],
        past: ['n/a'],
        log: 5,
        heard: 3,
      });
      expect(await refused).toMatchObject({code: 'Exists', current: {revision: c!.revision}});
      subscription.close();
    });
  });
}

describe('a commit that fails', () => {
  test('leaves nothing and lets others go on, when the disk was full', async () => {
    const {store, backing, commit, a} = await opened(false);
    const failing = failureOf(update(store, 'n/a', a.revision, 'two'));
    (await commit()).fail(new Error('disk full'));
    expect((await failing).code).toBe('Unavailable');
    expect(textOf(await store.read(pods, 'n/a'))).toBe(`${a.revision} one`);
    const next = update(store, 'n/a', a.revision, 'three');
    (await commit()).finish();
    // The revisions of the failed batch are not used again: somebody may have seen one in an encoder.
    expect((await next).revision).toBe(a.revision + 3);
    expect(backing.commits).toHaveLength(0);
  });

  test('is an unknown outcome otherwise, and writing goes on from the state that is known', async () => {
    const {store, commit, a} = await opened(false);
    const failing = failureOf(update(store, 'n/a', a.revision, 'two'));
    (await commit()).fail(new Error('input/output error'));
    expect((await failing).code).toBe('OutcomeUnknown');
    const next = update(store, 'n/a', a.revision, 'three');
    (await commit()).finish();
    expect((await next).revision).toBe(a.revision + 3);
  });

  test('stops all writing until the store is opened anew, when the state is no longer known', async () => {
    const {store, backing, commit, a} = await opened(false);
    backing.usable = false;
    const failing = failureOf(update(store, 'n/a', a.revision, 'two'));
    (await commit()).fail(new Error('input/output error'));
    expect((await failing).code).toBe('OutcomeUnknown');
    expect((await failureOf(update(store, 'n/a', a.revision, 'three'))).code).toBe('Unavailable');
    expect(textOf(await store.read(pods, 'n/a'))).toBe(`${a.revision} one`);
  });
});

describe('the engine', () => {
  test('commits what is queued as one batch, judging one write after the other', async () => {
    const {store, backing, commit, a} = await opened(false);
    const outcomes = [
      update(store, 'n/a', a.revision, 'two'),
      failureOf(update(store, 'n/a', a.revision, 'too late')),
      update(store, 'n/a', a.revision + 2, 'three'),
      remove(store, 'n/a', a.revision + 3),
      create(store, 'n/a', 'four'),
    ];
    const batch = await commit();
    expect(batch.commit.versions.map(({version}) => version.operation)).toEqual(['update', 'update', 'delete', 'create']);
    expect(backing.commits).toHaveLength(0);
    batch.finish();
    await Promise.all(outcomes);
    expect(await outcomes[1]).toMatchObject({code: 'Changed', current: {revision: a.revision + 2}});
    expect((await store.log(pods, a.revision + 1, 100)).map((change) => change.previousRevision)).toEqual([1, 3, 4, 0]);
  });

  test('gives up writes whose deadline passes in the queue', async () => {
    const {store, commit, a} = await opened(false);
    const going = update(store, 'n/a', a.revision, 'two');
    const batch = await commit();
    const write = {type: pods, key: 'late', expected: 'absent', operation: 'put', encode: () => Buffer.from('x'), index: {}} as const;
    const late = failureOf(store.append({...write, deadline: Date.now()}));
    batch.finish();
    await going;
    expect((await late).code).toBe('Unavailable');
  });

  test('calls nobody for writes of other types: head() tells a live subscriber how far it has come', async () => {
    const store = await openMemory();
    const {revision} = await create(store, 'a');
    const listener = new Listener();
    await store.subscribe(pods, revision, listener);
    // The first call says, without changes, that the subscriber is live.
    await until(() => listener.batches === 1);
    expect(listener.through).toBe(revision);
    for (let n = 0; n < 100; n++) await create(store, `${n}`, '', {}, 'services');
    expect(listener.batches).toBe(1);
    expect(await store.head(pods)).toBe(revision + 100);
    const next = await create(store, 'b');
    expect(listener.seen.map((change) => change.revision)).toEqual([next.revision]);
    await store.close();
  });

  test('lets a subscriber write from its callback, and keeps the order for the others', async () => {
    const store = await openMemory();
    const orders: number[][] = [[], []];
    const echo = {
      changes(changes: readonly {key: string; revision: number}[]) {
        for (const {key, revision} of changes) {
          orders[0]!.push(revision);
          if (key.length < 5) void create(store, `${key}!`);
        }
      },
      ended() {},
    };
    await store.subscribe(pods, 0, echo);
    await store.subscribe(pods, 0, {...echo, changes: (changes) => void orders[1]!.push(...changes.map((change) => change.revision))});
    await until(() => true);
    await create(store, 'a');
    await until(() => orders[1]!.length === 5);
    expect(orders).toEqual([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5],
    ]);
    await store.close();
  });

  test('forks memory in less than a millisecond, however much there is', async () => {
    const store = await openMemory();
    await Promise.all(Array.from({length: 20_000}, (_, n) => create(store, `n${n % 100}/o${n}`)));
    await store.fork();
    const best = Math.min(...(await Promise.all(Array.from({length: 5}, () => timed(() => store.fork())))));
    expect(best).toBeLessThan(1);
    await store.close();
  });

  test('an error that is not of the store is told as such', () => {
    expect(isStoreError(new Error('x'))).toBe(false);
  });
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
