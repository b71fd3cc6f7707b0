import {describe, expect, test} from 'vitest';
import {ManualClock} from '../clock.ts';
import {failure, type Status, StatusError} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import {seededRandom} from '../storage/faults.ts';
import type {ListResult} from './client.ts';
import {Informer, type InformerOptions} from './informer.ts';
import {BestWatches, type WatchListener, type WatchSource} from './watches.ts';

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
};

interface Event {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: KubeObject;
}

/** A server with a history, some of which it forgets; its watches end when a test says so. */
class Server implements WatchSource {
  readonly objects = new Map<string, KubeObject>();
  readonly history: Event[] = [];
  revision = 1;
  forgotten = 1;
  lists = 0;
  readonly watching = new Set<{from: number; listener: WatchListener}>();
  watches = 0;
  failing: Status | undefined;
  refusing: Status | undefined;

  async list<T extends KubeObject>(): Promise<ListResult<T>> {
    this.lists++;
    if (this.failing) throw new StatusError(this.failing);
    const items = [...this.objects.values()].map(({kind: _kind, apiVersion: _version, ...rest}) => rest);
    const list = {kind: 'ThingList', apiVersion: 'v1', metadata: {resourceVersion: String(this.revision)}, items};
    return structuredClone(list) as unknown as ListResult<T>;
  }

  watch<T extends KubeObject>(_target: unknown, from: string, listener: WatchListener<T>): () => void {
    const watch = {from: Number(from), listener: listener as WatchListener};
    this.watches++;
    queueMicrotask(() => {
      if (this.refusing) return listener.ended(this.refusing);
      if (watch.from < this.forgotten) return listener.ended(failure(410, 'Expired', 'too old').status);
      for (const {type, object} of this.history) {
        if (Number(object.metadata.resourceVersion) > watch.from) listener.event(type, structuredClone(object) as T);
      }
      this.watching.add(watch);
    });
    return () => this.watching.delete(watch);
  }

  close(): void {}

  write(name: string, again = true): void {
    const old = this.objects.get(name);
    const resourceVersion = String(++this.revision);
    const uid = old && again ? old.metadata.uid! : `${name}-${resourceVersion}`;
    const object: KubeObject = {kind: 'Thing', apiVersion: 'v1', metadata: {name, uid, resourceVersion}};
    this.objects.set(name, object);
    this.#tell({type: old ? 'MODIFIED' : 'ADDED', object});
  }

  remove(name: string): void {
    const object = this.objects.get(name);
    if (!object) return;
    this.objects.delete(name);
    const metadata = {...object.metadata, resourceVersion: String(++this.revision)};
    this.#tell({type: 'DELETED', object: {...object, metadata}});
  }

  end(status?: Status): void {
    const watches = [...this.watching];
    this.watching.clear();
    for (const {listener} of watches) listener.ended(status);
  }

  /** Nobody who is not watching now can go on from before. */
  forget(): void {
    this.forgotten = this.revision;
    this.history.length = 0;
  }

  #tell(event: Event): void {
    this.history.push(event);
    for (const {listener} of this.watching) listener.event(event.type, structuredClone(event.object));
  }
}

function informerOf(server: Server, more: Partial<InformerOptions<KubeObject>> = {}) {
  const clock = new ManualClock();
  const told: string[] = [];
  const {random = () => 0.5, ...options} = more;
  const informer = new Informer({
    client: server,
    watches: server,
    path: {groupVersion: 'v1', resource: 'things'},
    handlers: {
      added: ({metadata}) => told.push(`+${metadata.name}@${metadata.uid}`),
      updated: ({metadata}, old) => told.push(`~${metadata.name}@${old.metadata.resourceVersion}-${metadata.resourceVersion}`),
      deleted: ({metadata}) => told.push(`-${metadata.name}@${metadata.uid}`),
    },
    clock,
    random,
    ...options,
  });
  return {informer, clock, told};
}

describe('an informer', () => {
  test('has what is there, hears of what changes, and says of what kind things are', async () => {
    const server = new Server();
    server.write('a');
    const {informer, told} = informerOf(server);
    await informer.start().synced;
    await settled();
    server.write('a');
    server.write('b');
    server.remove('a');
    expect(told).toEqual(['+a@a-2', '~a@2-3', '+b@b-4', '-a@a-2']);
    expect(informer.list().map(({kind, metadata}) => [kind, metadata.name])).toEqual([['Thing', 'b']]);
    expect(informer.resourceVersion).toBe('5');
    informer.close();
    server.write('c');
    expect(informer.size).toBe(1);
  });

  test('keeps of things what it is told to, and says when a list is in', async () => {
    const server = new Server();
    server.write('a');
    const heard: unknown[] = [];
    const {informer, clock} = informerOf(server, {
      keep: ({kind, apiVersion, metadata: {name = '', uid = '', resourceVersion = ''}}: KubeObject) => ({
        ...{kind, apiVersion, small: true},
        metadata: {name, uid, resourceVersion},
      }),
      handlers: {
        added: (object) => heard.push(['+', object['small']]),
        deleted: (object) => heard.push(['-', object['small']]),
        listed: () => heard.push('listed'),
      },
    });
    await informer.start().synced;
    await settled();
    server.remove('a');
    server.forget();
    server.end();
    clock.advance(1_000);
    await settled();
    server.write('b');
    server.forget();
    server.end(failure(410, 'Expired', 'too old').status);
    clock.advance(1_000);
    await settled();
    expect(heard).toEqual([['+', true], 'listed', ['-', true], ['+', true], 'listed']);
    expect(informer.list()).toMatchObject([{small: true}]);
  });

  test('asks for the list again and again where it may not watch, and watches once it may', async () => {
    const server = new Server();
    server.refusing = failure(403, 'Forbidden', 'no watch').status;
    const {informer, clock, told} = informerOf(server);
    await informer.start().synced;
    await settled();
    for (let second = 0; second < 30; second++) {
      if (second === 12) server.write('a');
      clock.advance(1_000);
      await settled();
    }
    expect([told, server.lists, server.watches]).toEqual([['+a@a-2'], 7, 1]);
    server.refusing = undefined;
    for (let second = 0; second < 40; second++) {
      clock.advance(1_000);
      await settled();
    }
    const lists = server.lists;
    server.write('b');
    clock.advance(60_000);
    await settled();
    expect([told, server.lists - lists, server.watches]).toEqual([['+a@a-2', '+b@b-3'], 0, 2]);
  });

  test('goes on from where it was when a watch ends, without a list', async () => {
    const server = new Server();
    const {informer, clock, told} = informerOf(server);
    await informer.start().synced;
    await settled();
    server.end();
    server.write('a');
    server.end(failure(503, 'ServiceUnavailable', 'later').status);
    clock.advance(1_000);
    await settled();
    expect([told, server.lists]).toEqual([['+a@a-2'], 1]);
  });

  test('lists again when its version is forgotten, and tells of what went and came in between', async () => {
    const server = new Server();
    for (const name of ['stays', 'changes', 'goes', 'reborn']) server.write(name);
    const {informer, clock, told} = informerOf(server);
    await informer.start().synced;
    await settled();
    told.length = 0;
    server.end();
    server.write('changes');
    server.remove('goes');
    server.remove('reborn');
    server.write('reborn');
    server.write('new');
    server.forget();
    // One wait for the watch that ended, one for the version that is gone.
    for (let wait = 0; wait < 2; wait++) {
      clock.advance(1_000);
      await settled();
    }
    expect(told.sort()).toEqual(['+new@new-10', '+reborn@reborn-9', '-goes@goes-4', '-reborn@reborn-5', '~changes@3-6']);
    expect(server.lists).toBe(2);
  });

  test('tries again, ever more patiently, when it cannot list', async () => {
    const server = new Server();
    server.failing = failure(500, 'InternalError', 'no').status;
    const {informer, clock} = informerOf(server);
    informer.start();
    for (let second = 0; second < 120; second++) {
      await settled();
      clock.advance(1_000);
    }
    expect(server.lists).toBeGreaterThan(5);
    expect(server.lists).toBeLessThan(20);
    server.failing = undefined;
    clock.advance(30_000);
    await informer.synced;
  });

  test('tells of everything again when it is asked to', async () => {
    const server = new Server();
    server.write('a');
    const {informer, clock, told} = informerOf(server, {resyncMs: 60_000});
    await informer.start().synced;
    clock.advance(120_000);
    expect(told).toEqual(['+a@a-2', '~a@2-2', '~a@2-2']);
    informer.close();
    clock.advance(120_000);
    expect(told).toHaveLength(3);
  });

  test('a handler that throws costs nobody an event', async () => {
    const server = new Server();
    const failed: unknown[] = [];
    const seen: string[] = [];
    const informer = new Informer({
      client: server,
      watches: server,
      path: {groupVersion: 'v1', resource: 'things'},
      handlers: {
        added: ({metadata}) => {
          seen.push(metadata.name!);
          throw new Error('no');
        },
        failed: (error) => failed.push(error),
      },
      clock: new ManualClock(),
      random: () => 0.5,
    });
    await informer.start().synced;
    await settled();
    server.write('a');
    server.write('b');
    expect([seen, failed.length, informer.size]).toEqual([['a', 'b'], 2, 2]);
  });

  test('is exact in the end whatever happens to its watches, and tells each object’s life in order', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = seededRandom(seed);
      const server = new Server();
      const {informer, clock, told} = informerOf(server, {random});
      informer.start();
      for (let step = 0; step < 80; step++) {
        const dice = random();
        const name = `n${Math.floor(random() * 5)}`;
        if (dice < 0.45) server.write(name, random() < 0.9);
        else if (dice < 0.6) server.remove(name);
        else if (dice < 0.7) server.end();
        else if (dice < 0.75) server.end(failure(500, 'InternalError', 'no').status);
        else if (dice < 0.8) server.forget();
        else if (dice < 0.85) server.failing = server.failing ? undefined : failure(503, 'ServiceUnavailable', 'no').status;
        else clock.advance(Math.floor(random() * 2_000));
        if (random() < 0.7) await settled();
      }
      server.failing = undefined;
      for (let round = 0; round < 20; round++) {
        clock.advance(31_000);
        await settled();
      }
      const have = informer.list().map(({metadata}) => `${metadata.name}@${metadata.uid}@${metadata.resourceVersion}`);
      const want = [...server.objects.values()].map(({metadata}) => `${metadata.name}@${metadata.uid}@${metadata.resourceVersion}`);
      expect([seed, have.sort(), wrongIn(told)]).toEqual([seed, want.sort(), []]);
      informer.close();
    }
  });
});

/** What is told of an object must be a life: it comes, changes from version to later version, goes. */
function wrongIn(told: readonly string[]): string[] {
  const alive = new Map<string, string>();
  return told.filter((line) => {
    const [, sign, name, what] = /^([-+~])(\w+)@(.*)$/.exec(line)!;
    const was = alive.get(name!);
    if (sign === '+') alive.set(name!, what!);
    if (sign === '-') alive.delete(name!);
    if (sign === '+') return was !== undefined;
    if (sign === '-') return was !== what;
    const [from, to] = what!.split('-');
    return was === undefined || Number(from) >= Number(to);
  });
}

describe('the best way to watch', () => {
  const source = (behaviour: (listener: WatchListener) => void) => {
    const calls: string[] = [];
    const watches: WatchSource = {
      watch: (_target, from, listener) => {
        calls.push(from);
        queueMicrotask(() => behaviour(listener as WatchListener));
        return () => calls.push('end');
      },
      close() {},
    };
    return {watches, calls};
  };
  const target = {path: {groupVersion: 'v1', resource: 'things'}};
  const nobody = {event() {}, bookmark() {}, ended() {}};

  test('is the WebSocket where there is one, and HTTP for a while after it failed', async () => {
    const clock = new ManualClock();
    const http = source(() => {});
    const socket = source((listener) => listener.ended(failure(503, 'ServiceUnavailable', 'gone').status));
    const best = new BestWatches(http.watches, async () => socket.watches, clock);
    const ends: (Status | undefined)[] = [];
    best.watch(target, '5', {...nobody, ended: (status) => ends.push(status)});
    await settled();
    // Its listener only hears that it is to go on.
    expect(ends).toEqual([undefined]);
    best.watch(target, '6', nobody);
    await settled();
    clock.advance(300_001);
    best.watch(target, '7', nobody);
    await settled();
    expect([socket.calls, http.calls]).toEqual([['5', '7'], ['6']]);
  });

  test('is HTTP where the server offers nothing else, and what the watch itself ends with is passed on', async () => {
    const http = source((listener) => listener.ended(failure(410, 'Expired', 'too old').status));
    const best = new BestWatches(http.watches, async () => undefined, new ManualClock());
    const codes: (number | undefined)[] = [];
    best.watch(target, '5', {...nobody, ended: (status) => codes.push(status?.code)});
    await settled();
    expect([http.calls, codes]).toEqual([['5'], [410]]);
  });

  test('that was given up before it was found never begins', async () => {
    const http = source(() => {});
    const best = new BestWatches(http.watches, async () => undefined, new ManualClock());
    best.watch(target, '5', nobody)();
    await settled();
    expect(http.calls).toEqual([]);
  });
});
