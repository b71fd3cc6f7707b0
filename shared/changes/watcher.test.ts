import {describe, expect, test} from 'vitest';
import {ManualClock} from '../clock.ts';
import type {PushSink, PushSource} from '../http/messages.ts';
import {bookmarkIntervalMs, watchBufferBytes} from '../limits.ts';
import type {Change, Index, Store, Subscriber} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';
import {Hub, type LiveWatcher} from './hub.ts';
import {type WatchEncoder, type WatchOptions, watchStream} from './watcher.ts';

const type = 'things';

/** Events as lines: `ADDED a/x 3`; an image is its name and padding. */
const encoder: WatchEncoder = {
  event: (kind, event) =>
    event.frame(kind, ({key, revision, image}) => Buffer.from(`${kind} ${key} ${revision}${' '.repeat(image.length)}\n`)),
  initial: ({key, revision}) => Buffer.from(`ADDED ${key} ${revision}\n`),
  refreshed: ({key, revision}) => Buffer.from(`MODIFIED ${key} ${revision}\n`),
  bookmark: (revision, end) => Buffer.from(`BOOKMARK ${revision}${end ? ' end' : ''}\n`),
  error: (error) => Buffer.from(`ERROR ${(error as {code?: string}).code ?? (error as Error).message}\n`),
};

/** A client that takes everything, until it is told to stop. */
class Client implements PushSink {
  lines: string[] = [];
  writes = 0;
  ended = false;
  /** Takes this many writes more. */
  room = Number.POSITIVE_INFINITY;
  source: PushSource | undefined;

  write(piece: Uint8Array): boolean {
    if (this.ended) throw new Error('written to after the end');
    this.writes++;
    this.lines.push(
      ...Buffer.from(piece)
        .toString()
        .split('\n')
        .map((line) => line.trimEnd())
        .filter(Boolean),
    );
    return --this.room > 0;
  }

  end(): void {
    this.ended = true;
  }

  drain(room = Number.POSITIVE_INFINITY): void {
    this.room = room;
    this.source!.drained();
  }
}

class Story {
  readonly clock = new ManualClock();
  store!: Store;
  hub!: Hub;
  closed = 0;
  replays = 0;
  readonly #revisions = new Map<string, number>();

  static async begin(): Promise<Story> {
    const story = new Story();
    story.store = await openMemory({clock: story.clock});
    story.hub = new Hub(story.store, type);
    return story;
  }

  async put(key: string, {size = 1, ...index}: Index & {size?: number} = {}): Promise<number> {
    const expected = this.#revisions.get(key) ?? 'absent';
    const {revision} = await this.store.append({type, key, expected, operation: 'put', encode: () => new Uint8Array(size), index});
    this.#revisions.set(key, revision);
    return revision;
  }

  async remove(key: string): Promise<void> {
    const expected = this.#revisions.get(key)!;
    await this.store.append({type, key, expected, operation: 'delete', encode: () => new Uint8Array(1), index: {}});
    this.#revisions.delete(key);
  }

  options(options: Partial<WatchOptions> = {}): WatchOptions {
    return {
      store: this.store,
      hub: this.hub,
      clock: this.clock,
      encoder,
      prefix: '',
      from: 0,
      bookmarks: false,
      timeoutMs: 3_600_000,
      onClose: () => this.closed++,
      onReplay: () => this.replays++,
      ...options,
    };
  }

  async watch(options: Partial<WatchOptions> = {}, room?: number): Promise<Client> {
    const client = new Client();
    if (room !== undefined) client.room = room;
    client.source = watchStream(this.options(options)).pushTo(client);
    await turns();
    return client;
  }
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};
const numbered = (count: number): string[] => Array.from({length: count}, (_, i) => `a/${String(i).padStart(5, '0')}`);

describe('a watch', () => {
  test('delivers what happened before it came, then what happens, each once and in order', async () => {
    const story = await Story.begin();
    for (const key of numbered(1_200)) await story.put(key);
    const client = await story.watch({from: 100});
    await story.put('a/later');
    await story.remove('a/later');
    expect(client.lines.slice(0, 1_100)).toEqual(
      numbered(1_200)
        .map((key, i) => `ADDED ${key} ${i + 1}`)
        .slice(100),
    );
    expect(client.lines.slice(1_100)).toEqual(['ADDED a/later 1201', 'DELETED a/later 1202']);
  });

  test('begins with the state and its end mark where they are asked for', async () => {
    const story = await Story.begin();
    await story.put('a/x');
    const {items, revision} = await story.store.scan(type, {prefix: ''});
    const client = await story.watch({from: revision, initial: items, initialEventsEnd: true});
    await story.put('a/x');
    expect(client.lines).toEqual(['ADDED a/x 1', 'BOOKMARK 1 end', 'MODIFIED a/x 2']);
  });

  test('sees only its prefix, and through a selector objects come and go', async () => {
    const story = await Story.begin();
    const client = await story.watch({prefix: 'a/', matches: ({index}) => index.labels?.['on'] === 'yes'});
    await story.put('a/x', {labels: {on: 'no'}});
    await story.put('b/x', {labels: {on: 'yes'}});
    await story.put('a/x', {labels: {on: 'yes'}});
    await story.put('a/x', {labels: {on: 'yes'}});
    await story.put('a/x', {labels: {on: 'no'}});
    expect(client.lines).toEqual(['ADDED a/x 3', 'MODIFIED a/x 4', 'DELETED a/x 5']);
  });

  test('writes the changes of one commit at once', async () => {
    const story = await Story.begin();
    let subscriber!: Subscriber;
    const grouping = {
      head: async () => 0,
      subscribe: async (_type: string, _from: number, given: Subscriber) => {
        subscriber = given;
        return {close() {}};
      },
    } as unknown as Store;
    const client = await story.watch({store: grouping, hub: new Hub(grouping, type)});
    const change = (key: string, revision: number): Change => ({
      ...{key, revision, operation: 'create', previousRevision: 0, time: 0},
      ...{image: new Uint8Array(1), index: {}},
    });
    subscriber.changes([change('a/x', 1), change('a/y', 2), change('a/z', 3)], 3);
    expect([client.lines, client.writes]).toEqual([['ADDED a/x 1', 'ADDED a/y 2', 'ADDED a/z 3'], 1]);
  });

  test('from a version that is still to come, hears nothing until after it', async () => {
    const story = await Story.begin();
    const client = await story.watch({from: 2});
    for (const key of ['a/1', 'a/2', 'a/3']) await story.put(key);
    expect(client.lines).toEqual(['ADDED a/3 3']);
  });

  test('of a version that is forgotten says so and ends', async () => {
    const story = await Story.begin();
    for (const key of ['a/1', 'a/2', 'a/3']) await story.put(key);
    await story.store.compact(3);
    const client = await story.watch({from: 1});
    expect([client.lines, client.ended, story.closed]).toEqual([['ERROR Compacted'], true, 1]);
  });
});

describe('bookmarks', () => {
  test('come each minute and just before the end, and tell how far the watch is even where it saw nothing', async () => {
    const story = await Story.begin();
    const client = await story.watch({prefix: 'a/', bookmarks: true, timeoutMs: bookmarkIntervalMs + 30_000});
    await story.put('b/x');
    story.clock.advance(bookmarkIntervalMs);
    await turns();
    expect(client.lines).toEqual(['BOOKMARK 1']);
    await story.put('b/x');
    story.clock.advance(28_000);
    await turns();
    expect(client.lines).toEqual(['BOOKMARK 1', 'BOOKMARK 2']);
    story.clock.advance(2_000);
    expect([client.ended, story.closed]).toEqual([true, 1]);
  });

  test('never overtake an event', async () => {
    const story = await Story.begin();
    const client = await story.watch({bookmarks: true}, 1);
    await story.put('a/x');
    await story.put('a/y');
    story.clock.advance(bookmarkIntervalMs);
    await turns();
    expect(client.lines).toEqual(['ADDED a/x 1']);
    client.drain();
    await turns();
    expect(client.lines).toEqual(['ADDED a/x 1', 'ADDED a/y 2', 'BOOKMARK 2']);
  });
});

describe('the end', () => {
  test('comes with the timeout, and what was queued for a slow client comes before it', async () => {
    const story = await Story.begin();
    const client = await story.watch({timeoutMs: 5_000}, 1);
    await story.put('a/x');
    await story.put('a/y');
    story.clock.advance(5_000);
    expect([client.lines, client.ended, story.hub.size]).toEqual([['ADDED a/x 1', 'ADDED a/y 2'], true, 0]);
  });

  test('comes for a thousand watches when the server drains, without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning);
    process.on('warning', onWarning);
    const story = await Story.begin();
    const drain = new AbortController();
    const clients = await Promise.all(Array.from({length: 1_000}, () => story.watch({drain: drain.signal})));
    drain.abort();
    await turns();
    process.removeListener('warning', onWarning);
    expect([clients.every(({ended}) => ended), story.closed, story.hub.size, warnings]).toEqual([true, 1_000, 0, []]);
  });

  test('comes when the client goes, also while the past is on its way', async () => {
    const story = await Story.begin();
    for (const key of numbered(3_000)) await story.put(key, {size: 100});
    const client = await story.watch({}, 1);
    client.source!.close();
    client.source!.close();
    await turns();
    expect([client.ended, story.closed, client.writes, story.hub.size]).toEqual([true, 1, 1, 0]);
  });

  test('is told when the store closes', async () => {
    const story = await Story.begin();
    const client = await story.watch();
    await story.store.close();
    expect([client.lines, client.ended]).toEqual([['ERROR Unavailable'], true]);
  });

  test('of one watch whose events cannot be encoded is not the end of the others', async () => {
    const story = await Story.begin();
    const broken = {
      ...encoder,
      event: (): never => {
        throw new Error('no such form');
      },
    };
    const [bad, good] = [await story.watch({encoder: broken}), await story.watch()];
    await story.put('a/x');
    expect([bad.lines, bad.ended, good.lines]).toEqual([['ERROR no such form'], true, ['ADDED a/x 1']]);
  });
});

describe('a slow client', () => {
  test('costs a bounded queue, and loses nothing when it comes back', async () => {
    const story = await Story.begin();
    const client = await story.watch({}, 1);
    const size = 64 * 1024;
    const keys = numbered(Math.ceil((2 * watchBufferBytes) / size));
    for (const key of keys) await story.put(key, {size});
    expect([client.lines.length, story.replays, story.hub.size]).toEqual([1, 1, 0]);
    client.drain();
    await turns();
    await story.put('a/zzz');
    expect(client.lines).toEqual([...keys.map((key, i) => `ADDED ${key} ${i + 1}`), `ADDED a/zzz ${keys.length + 1}`]);
  });

  test('that takes one piece at a time gets the same', async () => {
    const story = await Story.begin();
    const keys = numbered(2_000);
    for (const key of keys.slice(0, 1_500)) await story.put(key, {size: 200});
    const client = await story.watch({}, 1);
    for (const key of keys.slice(1_500)) {
      await story.put(key, {size: 16 * 1024});
      if (Number(key.slice(2)) % 50 === 0) client.drain(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (let i = 0; i < 400 && client.lines.length < keys.length; i++) {
      client.drain(1);
      await turns();
    }
    expect(client.lines).toEqual(keys.map((key, i) => `ADDED ${key} ${i + 1}`));
  });
});

test('as a plain sequence a watch is pulled piece by piece, and let go of', async () => {
  const story = await Story.begin();
  const keys = numbered(10);
  const seen: string[] = [];
  const body = watchStream(story.options());
  const writing = (async () => {
    for (const key of keys) await story.put(key);
  })();
  for await (const piece of body) {
    seen.push(...Buffer.from(piece).toString().split('\n').filter(Boolean));
    if (seen.length === keys.length) break;
  }
  await writing;
  expect(seen.map((line) => line.trimEnd())).toEqual(keys.map((key, i) => `ADDED ${key} ${i + 1}`));
  expect([story.closed, story.hub.size]).toEqual([1, 0]);
});

test('a hub offers each change to all watchers as the same event', async () => {
  const story = await Story.begin();
  const offered: unknown[] = [];
  const watcher = (): LiveWatcher => ({offer: (events) => offered.push(events[0]), ended: () => {}});
  await story.hub.through();
  for (const each of [watcher(), watcher()]) expect(story.hub.join(each, 0)).toBe(true);
  await turns();
  await story.put('a/x');
  expect(offered).toHaveLength(2);
  expect(offered[0]).toBe(offered[1]);
});
