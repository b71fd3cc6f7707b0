/**
 * What is particular to this engine, as stories for any client of DynamoDB's: calls, sessions, several processes, what goes wrong.
 * Told on the real DynamoDB Local, and on the double.
 */

import type {TransactWriteItem, TransactWriteItemsCommandInput} from '@aws-sdk/client-dynamodb';
import {describe, expect, test, vi} from 'vitest';
import {ManualClock} from '../../../clock.ts';
import {isStoreError, type Store} from '../../contract.ts';
import {maxImageBytes} from '../../limits.ts';
import {bytes, create, failureOf, keysOf, Listener, pods, remove, textOf, told, until, update} from '../../suite/helpers.ts';
import {epoch, Keys} from '../keys.ts';
import {type DynamoOptions, type DynamoStore, openDynamo} from '../open.ts';
import {type LocalDynamo, timeOf} from './local.ts';
import {counted, hooked, named, troubled} from './watched.ts';

/** Where the stories happen. */
export type Stage = Pick<LocalDynamo, 'client' | 'tables' | 'cluster'>;

const namespaces = 'namespaces';

export function engineStories(dynamo: Stage): void {
  const clock = new ManualClock();
  const open = (options: Partial<DynamoOptions> = {}): Promise<DynamoStore> =>
    openDynamo({
      client: dynamo.client,
      tables: dynamo.tables,
      cluster: dynamo.cluster(),
      clock: timeOf(clock),
      poll: {busyMs: 5, restMs: 20},
      ...options,
    });
  /** Two processes over one cluster. */
  async function two(options: Partial<DynamoOptions> = {}): Promise<[DynamoStore, DynamoStore]> {
    const cluster = dynamo.cluster();
    return [await open({...options, cluster}), await open({...options, cluster})];
  }

  describe('calls', () => {
    async function watched() {
      const cluster = dynamo.cluster();
      const writer = await open({cluster});
      const calls = counted(dynamo.client);
      const reopened = async (): Promise<DynamoStore> => {
        const store = await open({cluster, client: calls.client});
        calls.taken();
        return store;
      };
      return {writer, calls, reopened};
    }

    test('a create is a reservation and a transaction, and a look at the epoch where the session asks for it', async () => {
      const {writer, calls, reopened} = await watched();
      await create(writer, 'n/other');
      const store = await reopened();
      await create(store, 'n/a');
      expect(calls.taken()).toEqual(['updateItem', 'transactWriteItems']);
      await store.begin();
      calls.taken();
      const session = await store.begin({optimistic: true});
      await create(session, 'n/b');
      expect(calls.taken()).toEqual(['updateItem', 'getItem', 'transactWriteItems']);
      await session.confirm();
      expect(calls.taken()).toEqual([]);
    });

    test('a get with everything that decides about it is one call', async () => {
      const {writer, calls, reopened} = await watched();
      await create(writer, 'n/a');
      const store = await reopened();
      const session = await store.begin({ahead: {type: pods, key: 'n/a'}});
      expect(textOf(await session.read(pods, 'n/a'))).toBe('1 n/a');
      expect(calls.taken()).toEqual(['batchGetItem']);
      await session.read(pods, 'n/a');
      expect(calls.taken()).toEqual(['getItem']);
    });

    test('an update and a delete are a read, a reservation and a transaction', async () => {
      const {writer, calls, reopened} = await watched();
      await create(writer, 'n/a');
      const store = await reopened();
      const session = await store.begin({ahead: {type: pods, key: 'n/a'}});
      const read = await session.read(pods, 'n/a');
      const updated = await update(session, 'n/a', read!.revision, 'two');
      expect(calls.taken()).toEqual(['batchGetItem', 'updateItem', 'transactWriteItems']);
      await remove(session, 'n/a', updated.revision);
      expect(calls.taken()).toEqual(['updateItem', 'transactWriteItems']);
    });

    test('a cold list is its pages and two, a warm one is one and what changed', async () => {
      const {writer, calls, reopened} = await watched();
      await Promise.all(Array.from({length: 500}, (_, n) => create(writer, `n/${n}`, 'x'.repeat(1000))));
      await writer.maintain();
      const store = await reopened();
      const cold = await store.begin({ahead: {type: pods}});
      expect((await cold.scan(pods, {prefix: '', limit: 500})).items).toHaveLength(500);
      expect(calls.taken()).toEqual(['batchGetItem', 'query']);
      const warm = await store.begin({ahead: {type: pods}});
      expect((await warm.scan(pods, {prefix: 'n/'})).items).toHaveLength(500);
      expect(calls.taken()).toEqual(['batchGetItem']);
      await create(writer, 'n/new');
      const changed = await store.begin({ahead: {type: pods}});
      expect((await changed.scan(pods, {prefix: ''})).items).toHaveLength(501);
      // The log, and a look whether readers see what it says.
      expect(calls.taken()).toEqual(['batchGetItem', 'query', 'batchGetItem']);
    });

    test('writers keep the log closed: once in many writes, not at each', async () => {
      const {calls, reopened} = await watched();
      const store = await reopened();
      for (let n = 0; n < 130; n++) await create(store, `${n}`);
      await store.close();
      const taken = calls.taken();
      expect(taken.filter((name) => name === 'transactWriteItems')).toHaveLength(130);
      // The type's first write is written down; two closings.
      expect(taken.length).toBeLessThanOrEqual(260 + 1 + 2 * 2);
    });
  });

  describe('sessions', () => {
    test('who begins has been told of all configuration that was acknowledged before', async () => {
      const [a, b] = await two();
      const listener = new Listener();
      await b.subscribe(namespaces, 0, listener, {passive: true});
      const made = await create(a, 'one', 'x', {}, namespaces);
      await create(a, 'role', 'x', {}, 'clusterroles.rbac.authorization.k8s.io');
      expect(listener.seen).toEqual([]);
      await b.begin();
      expect(told(listener.seen)).toEqual([`create one ${made.revision}`]);
      expect(listener.through).toBeGreaterThanOrEqual(made.revision);
    });

    test('an optimistic write is not made when the configuration has moved, and leaves nothing to wait for', async () => {
      const [a, b] = await two();
      const listener = new Listener();
      await b.subscribe(namespaces, 0, listener, {passive: true});
      const session = await b.begin({optimistic: true});
      await create(a, 'one', 'x', {}, namespaces);
      expect((await failureOf(create(session, 'n/a'))).code).toBe('ConfigurationMoved');
      await until(() => listener.seen.length === 1);
      expect(await b.read(pods, 'n/a')).toBeUndefined();
      const again = await b.begin({optimistic: true});
      const stored = await create(again, 'n/a');
      expect(told(await a.log(pods, 0, stored.revision))).toEqual([`create n/a ${stored.revision}`]);
    });

    test('confirm says the same of a session that only read', async () => {
      const [a, b] = await two();
      await b.begin();
      const session = await b.begin({optimistic: true});
      await session.confirm();
      const other = await b.begin({optimistic: true});
      await create(a, 'one', 'x', {}, namespaces);
      expect((await failureOf(other.confirm())).code).toBe('ConfigurationMoved');
      await other.confirm();
    });

    test('an optimistic session believes no more than its subscribers have been told', async () => {
      const [a, b] = await two();
      await create(a, 'one', 'x', {}, namespaces);
      await b.begin();
      const listener = new Listener();
      await b.subscribe(namespaces, 0, listener, {passive: true});
      const session = await b.begin({optimistic: true});
      expect(listener.seen).toEqual([]);
      expect((await failureOf(create(session, 'n/a'))).code).toBe('ConfigurationMoved');
      expect(listener.seen).toHaveLength(1);
    });

    test('who begins after its subscribers slept for too long comes again, and never hears of history', async () => {
      const cluster = dynamo.cluster();
      const [a, b] = [await open({cluster}), await open({cluster})];
      const listener = new Listener();
      await b.subscribe(namespaces, 0, listener, {passive: true});
      const {revision} = await create(a, 'one', 'x', {}, namespaces);
      await a.compact(revision);
      // As the time to live does it.
      const pk = {S: new Keys(cluster).log(epoch, 0)};
      for (let slot = 1; slot <= revision; slot++)
        await dynamo.client.deleteItem({TableName: dynamo.tables.log, Key: {pk, sk: {N: String(slot)}}});
      expect((await failureOf(b.begin())).code).toBe('Unavailable');
      expect(listener.error?.code).toBe('Compacted');
      await b.begin();
    });

    test('a guard is asked after the reservation, when all that was acknowledged before is known', async () => {
      const [a, b] = await two();
      const namespace = await create(a, 'n', 'Active', {}, namespaces);
      let phase = '';
      await b.subscribe(
        namespaces,
        0,
        {
          changes: (changes) => {
            for (const change of changes) phase = textOf(change)!.split(' ')[1]!;
          },
          ended: () => {},
        },
        {passive: true},
      );
      const write = {type: pods, key: 'n/a', expected: 'absent', operation: 'put', encode: () => bytes('x'), index: {}} as const;
      const guard = async (): Promise<boolean> => phase === 'Active';
      await b.append({...write, guard});
      await update(a, 'n', namespace.revision, 'Terminating', {}, namespaces);
      expect((await failureOf(b.append({...write, key: 'n/b', guard}))).code).toBe('ConfigurationMoved');
      expect(keysOf(await a.scan(pods, {prefix: 'n/'}))).toEqual(['n/a']);
    });

    test('many sessions write configuration at once, each looking at what was before it', async () => {
      const [a, b] = await two();
      for (const store of [a, b]) {
        await store.subscribe(namespaces, 0, new Listener(), {passive: true});
        await store.begin();
      }
      const names = Array.from({length: 12}, (_, n) => `n${n}`);
      await Promise.all(
        names.map(async (name, n) => {
          for (;;) {
            const session = await (n % 2 ? a : b).begin({optimistic: true});
            try {
              return await create(session, name, 'x', {}, namespaces);
            } catch (error) {
              if (!isStoreError(error, 'ConfigurationMoved')) throw error;
            }
          }
        }),
      );
      expect(keysOf(await a.scan(namespaces, {prefix: ''}))).toEqual([...names].sort());
    });
  });

  describe('several processes', () => {
    test('writers storm two of them: no update is lost, lists and subscribers are exact', async () => {
      const [a, b] = await two();
      const listeners = [new Listener(), new Listener()];
      await a.subscribe(pods, 0, listeners[0]!);
      await b.subscribe(pods, 0, listeners[1]!);
      await Promise.all(['x', 'y'].map((key) => create(a, key, '0')));
      let lists = 0;
      let writing = true;
      const increments = Promise.all([a, b, a, b].map((store) => increment(store, 15)));
      const listing = (async () => {
        while (writing) {
          const scan = await b.scan(pods, {prefix: ''});
          const again = await a.scan(pods, {prefix: '', at: scan.revision});
          expect(again.items.map(textOf)).toEqual(scan.items.map(textOf));
          lists++;
        }
      })();
      await increments;
      writing = false;
      await listing;
      expect(lists).toBeGreaterThan(0);
      for (const key of ['x', 'y']) expect(textOf(await a.read(pods, key))!.split(' ')[1]).toBe('60');
      const head = await a.head(pods);
      const log = told(await a.log(pods, 0, head));
      expect(log).toHaveLength(2 + 120);
      await until(() => listeners.every((listener) => listener.through >= head));
      for (const listener of listeners) expect(told(listener.seen)).toEqual(log);
    });

    async function increment(store: Store, times: number): Promise<void> {
      for (let n = 0; n < times; n++)
        for (const key of ['x', 'y'])
          for (;;) {
            const current = await store.read(pods, key);
            try {
              await update(store, key, current!.revision, String(Number(textOf(current)!.split(' ')[1]) + 1));
              break;
            } catch (error) {
              if (!isStoreError(error, 'Changed')) throw error;
            }
          }
    }

    test('a subscriber whose question was overtaken while others left misses nothing', async () => {
      const cluster = dynamo.cluster();
      const writer = await open({cluster});
      const gate = (): {reached: Promise<void>; hold(): Promise<void> | undefined; open(): void; armed: boolean} => {
        let [arrived, leave] = [(): void => {}, (): void => {}];
        const reached = new Promise<void>((resolve) => {
          arrived = resolve;
        });
        const left = new Promise<void>((resolve) => {
          leave = resolve;
        });
        return {
          armed: false,
          reached,
          open: () => leave(),
          hold() {
            if (!this.armed) return undefined;
            this.armed = false;
            arrived();
            return left;
          },
        };
      };
      const [asked, read] = [gate(), gate()];
      const client = hooked(dynamo.client, {getItem: {after: () => asked.hold()}, query: {after: () => read.hold()}});
      const store = await open({cluster, client, poll: {busyMs: 1e6, restMs: 1e6}});
      const first = await store.subscribe(pods, 0, new Listener());
      // Its answer, that there is nothing yet, comes late.
      asked.armed = true;
      const late = new Listener();
      const subscribing = store.subscribe(pods, 0, late);
      await asked.reached;
      for (const key of ['a', 'b', 'c']) await create(writer, key);
      await store.head(pods);
      await create(writer, 'd');
      read.armed = true;
      const telling = store.head(pods);
      await read.reached;
      first.close();
      asked.open();
      await subscribing;
      await until(() => late.batches > 0);
      read.open();
      await telling;
      await store.head(pods);
      expect(told(late.seen)).toEqual(['create a 1', 'create b 2', 'create c 3', 'create d 4']);
    });

    test('a writer that dies after its reservation is waited for, then its slot is filled', async () => {
      const cluster = dynamo.cluster();
      let reserved = false;
      const dying = hooked(dynamo.client, {
        transactWriteItems: {
          before: () => {
            reserved = true;
            return new Promise(() => {});
          },
        },
      });
      const dead = await open({cluster, client: dying});
      const store = await open({cluster});
      void create(dead, 'never').catch(() => {});
      await until(() => reserved);
      expect(await store.head(pods)).toBe(1);
      const {revision} = await create(store, 'a');
      expect(revision).toBe(2);
      expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['a']);
      expect(told(await store.log(pods, 0, 2))).toEqual(['create a 2']);
    });

    test('a slow writer whose slot was filled begins again with a newer revision', async () => {
      const cluster = dynamo.cluster();
      let held: (() => void) | undefined;
      const slow = hooked(dynamo.client, {
        transactWriteItems: {
          before: () => (held ? undefined : new Promise<void>((resolve) => (held = resolve))),
        },
      });
      const writer = await open({cluster, client: slow});
      const store = await open({cluster});
      const writing = create(writer, 'slow');
      await vi.waitFor(() => expect(held).toBeDefined());
      expect((await store.scan(pods, {prefix: ''})).revision).toBe(1);
      held!();
      expect((await writing).revision).toBe(2);
      expect(told(await store.log(pods, 0, 2))).toEqual(['create slow 2']);
    });

    test('a create that reserved before a deletion does not land below it', async () => {
      const cluster = dynamo.cluster();
      let held: (() => void) | undefined;
      const slow = hooked(dynamo.client, {
        transactWriteItems: {
          before: () => (held ? undefined : new Promise<void>((resolve) => (held = resolve))),
        },
      });
      const late = await open({cluster, client: slow});
      const store = await open({cluster});
      const writing = create(late, 'x', 'late');
      await vi.waitFor(() => expect(held).toBeDefined());
      const made = await create(store, 'x');
      const gone = await remove(store, 'x', made.revision);
      held!();
      const stored = await writing;
      expect(stored.revision).toBeGreaterThan(gone.revision);
      expect(told(await store.log(pods, 0, stored.revision)).at(-1)).toBe(`create x ${stored.revision}`);
      expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['x']);
    });
  });

  describe('trouble', () => {
    test('a write of which the answer was lost is recognised, not refused', async () => {
      let lose = 3;
      const losing = hooked(dynamo.client, {
        transactWriteItems: {
          after() {
            if (lose-- > 0) throw named('TimeoutError');
          },
        },
      });
      const store = await open({client: losing});
      const stored = await create(store, 'a');
      const updated = await update(store, 'a', stored.revision, 'two');
      expect(told(await store.log(pods, 0, updated.revision))).toEqual([`create a ${stored.revision}`, `update a ${updated.revision}`]);
    });

    test('a write that is recognised by its slot is acknowledged when its object shows it', async () => {
      const cluster = dynamo.cluster();
      const parts: TransactWriteItem[] = [];
      let tries = 0;
      const client = hooked(dynamo.client, {
        transactWriteItems: {
          async before({TransactItems: [object, slot] = []}: TransactWriteItemsCommandInput) {
            tries++;
            if (tries === 1) {
              parts.push(object!);
              await dynamo.client.putItem({TableName: slot!.Put!.TableName, Item: slot!.Put!.Item});
              throw named('TimeoutError');
            }
            const reasons = [{Code: 'TransactionConflict'}, {Code: 'ConditionalCheckFailed', Item: slot!.Put!.Item}];
            throw Object.assign(named('TransactionCanceledException'), {CancellationReasons: reasons});
          },
        },
      });
      const [writer, reader] = [await open({cluster, client}), await open({cluster})];
      let acknowledged = false;
      const writing = create(writer, 'a').finally(() => {
        acknowledged = true;
      });
      await vi.waitFor(() => expect(tries).toBe(2));
      await until(() => parts.length === 1);
      for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
      expect(acknowledged).toBe(false);
      const {TableName, Item} = parts[0]!.Put!;
      await dynamo.client.putItem({TableName, Item});
      const {revision} = await writing;
      expect((await reader.read(pods, 'a'))?.revision).toBe(revision);
    });

    test('writers, lists and subscribers through throttles, conflicts and lost answers: everything once', async () => {
      for (const seed of [1, 2]) {
        const cluster = dynamo.cluster();
        const stores = await Promise.all([1, 2].map((n) => open({cluster, client: troubled(dynamo.client, 10 * seed + n)})));
        const plain = await open({cluster});
        const listener = new Listener();
        await stores[0]!.subscribe(pods, 0, listener);
        const written = await Promise.all(
          Array.from({length: 24}, async (_, n) => {
            const store = stores[n % 2]!;
            const made = await create(store, `k${n}`, String(n));
            const changed = await update(store, `k${n}`, made.revision, `${n}!`);
            if (n % 3) return [made, changed];
            return [made, changed, await remove(store, `k${n}`, changed.revision)];
          }),
        );
        const head = await plain.head(pods);
        const log = (await plain.log(pods, 0, head)).map(({revision}) => revision);
        expect(log).toEqual(
          written
            .flat()
            .map(({revision}) => revision)
            .sort((x, y) => x - y),
        );
        expect((await stores[1]!.scan(pods, {prefix: ''})).items).toHaveLength(16);
        await until(() => listener.through >= head);
        expect(listener.seen.map(({revision}) => revision)).toEqual(log);
        await Promise.all(stores.map((store) => store.close()));
      }
    });

    test('a database that does not answer is Unavailable at the deadline, and what may have happened is OutcomeUnknown', async () => {
      const now = new ManualClock();
      let down = false;
      const fail = {
        before() {
          now.advance(500);
          if (down) throw named('ThrottlingException');
        },
      };
      const throttled = hooked(dynamo.client, {getItem: fail, updateItem: fail});
      const store = await open({client: throttled, clock: timeOf(now)});
      await create(store, 'a');
      down = true;
      expect((await failureOf(store.read(pods, 'a'))).code).toBe('Unavailable');
      expect((await failureOf(create(store, 'b'))).code).toBe('Unavailable');

      let deaf = false;
      const silence = (): void => {
        now.advance(500);
        if (deaf) throw named('TimeoutError');
      };
      const lost = await open({
        client: hooked(dynamo.client, {transactWriteItems: {after: silence}, putItem: {before: silence}, getItem: {before: silence}}),
        clock: timeOf(now),
      });
      await create(lost, 'a');
      deaf = true;
      expect((await failureOf(create(lost, 'b'))).code).toBe('OutcomeUnknown');
    });
  });

  describe('what is kept', () => {
    test('a large object lies in chunks, in the log as well, and its history can be told', async () => {
      const cluster = dynamo.cluster();
      const store = await open({cluster});
      // Not compressible.
      const noise = (seed: number): Uint8Array => {
        const image = new Uint8Array(maxImageBytes);
        for (let at = 0, state = seed; at < image.length; at++) {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          image[at] = state >>> 24;
        }
        return image;
      };
      const write = (expected: 'absent' | number, image: Uint8Array) =>
        store.append({type: pods, key: 'big', expected, operation: 'put', encode: () => image, index: {labels: {v: String(image[0])}}});
      const one = await write('absent', noise(1));
      const two = await write(one.revision, noise(2));
      const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
      const cold = await open({cluster});
      expect(same((await cold.read(pods, 'big'))!.image, noise(2))).toBe(true);
      expect(same((await cold.scan(pods, {prefix: '', at: one.revision})).items[0]!.image, noise(1))).toBe(true);
      const [, change] = await cold.log(pods, 0, two.revision);
      expect(same(change!.previousImage!, noise(1))).toBe(true);
    });

    test('chunks that nobody points to are swept, those of living objects never', async () => {
      const now = new ManualClock();
      const calls = counted(dynamo.client);
      const store = await open({clock: timeOf(now), client: calls.client});
      const large = (expected: 'absent' | number) =>
        store.append({
          type: pods,
          key: 'big',
          expected,
          operation: 'put',
          encode: () => Buffer.from(Array.from({length: 100_000}, (_, n) => (Math.imul(n, n * 7919) >>> 9) & 255)),
          index: {},
        });
      const first = await large('absent');
      await update(store, 'big', first.revision, 'small');
      const second = await store.append({
        type: pods,
        key: 'living',
        expected: 'absent',
        operation: 'put',
        encode: () => Buffer.from(Array.from({length: 100_000}, (_, n) => (Math.imul(n, n * 6101) >>> 9) & 255)),
        index: {},
      });
      for (let week = 0; week < 3; week++) {
        now.advance(7 * 24 * 3600_000);
        await store.maintain();
      }
      const removed = calls.taken().filter((name) => name === 'batchWriteItem');
      expect(removed.length).toBeGreaterThanOrEqual(3);
      const found = await store.read(pods, 'living');
      expect(found!.revision).toBe(second.revision);
      expect(found!.image).toHaveLength(100_000);
    });

    test('maintenance closes the log, forgets what is old, and clears tombstones after a day', async () => {
      const now = new ManualClock();
      const cluster = dynamo.cluster();
      const store = await open({cluster, clock: timeOf(now), historyMs: 3600_000});
      for (let n = 0; n < 5; n++) await remove(store, `${n}`, (await create(store, `${n}`)).revision);
      const kept = await create(store, 'kept');
      const tombstones = async (): Promise<number> => {
        const {Items} = await dynamo.client.query({
          TableName: dynamo.tables.objects,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: {':pk': {S: `${cluster}|o|${pods}`}},
        });
        return Items!.filter((item) => item['dead']?.BOOL).length;
      };
      await store.maintain();
      expect(await tombstones()).toBe(5);
      expect(await store.compactedThrough(pods)).toBe(0);
      now.advance(2 * 3600_000);
      await store.maintain();
      expect(await store.compactedThrough(pods)).toBe(kept.revision);
      expect(await tombstones()).toBe(5);
      now.advance(24 * 3600_000);
      await store.maintain();
      expect(await tombstones()).toBe(0);
      expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['kept']);
      expect((await create(store, '0')).revision).toBeGreaterThan(kept.revision);
    });

    test('a log that nobody closed before its records expired is given up, not filled: objects stay, history says Compacted', async () => {
      const now = new ManualClock();
      const cluster = dynamo.cluster();
      const store = await open({cluster, clock: timeOf(now)});
      const revisions: number[] = [];
      for (let n = 0; n < 3; n++) revisions.push((await create(store, `${n}`)).revision);
      now.advance(5 * 24 * 3600_000);
      for (const revision of revisions)
        await dynamo.client.deleteItem({TableName: dynamo.tables.log, Key: {pk: {S: `${cluster}|l|${pods}|0`}, sk: {N: String(revision)}}});
      const later = await open({cluster, clock: timeOf(now)});
      expect(await later.scan(pods, {prefix: ''})).toMatchObject({revision: 3, items: revisions.map((revision) => ({revision}))});
      expect((await failureOf(later.log(pods, 0, 3))).code).toBe('Compacted');
      expect((await create(later, 'new')).revision).toBe(4);
      expect(told(await later.log(pods, 3, 4))).toEqual(['create new 4']);
    });

    test('a type that rested is closed before it hands out another revision', async () => {
      const now = new ManualClock();
      const cluster = dynamo.cluster();
      const store = await open({cluster, clock: timeOf(now)});
      const first = await create(store, 'a');
      now.advance(26 * 3600_000);
      const calls = counted(dynamo.client);
      const later = await open({cluster, clock: timeOf(now), client: calls.client});
      const second = await create(later, 'b');
      expect(told(await later.log(pods, 0, second.revision))).toEqual([`create a ${first.revision}`, `create b ${second.revision}`]);
      calls.taken();
      await create(later, 'c');
      expect(calls.taken()).toEqual(['updateItem', 'transactWriteItems']);
    });

    test('an object that stood for longer than records are kept can still be listed as it was', async () => {
      const now = new ManualClock();
      const cluster = dynamo.cluster();
      const store = await open({cluster, clock: timeOf(now)});
      const old = await create(store, 'a', 'old');
      now.advance(30 * 24 * 3600_000);
      const marker = await create(store, 'b');
      await update(store, 'a', old.revision, 'new');
      // TTL has taken its record.
      await dynamo.client.deleteItem({
        TableName: dynamo.tables.log,
        Key: {pk: {S: `${cluster}|l|${pods}|0`}, sk: {N: String(old.revision)}},
      });
      await store.maintain();
      const cold = await open({cluster, clock: timeOf(now)});
      expect((await cold.scan(pods, {prefix: '', at: marker.revision})).items.map(textOf)).toEqual([
        `${old.revision} old`,
        `${marker.revision} b`,
      ]);
    });

    test('a newer format is refused', async () => {
      const cluster = dynamo.cluster();
      await open({cluster});
      await dynamo.client.updateItem({
        TableName: dynamo.tables.objects,
        Key: {pk: {S: `${cluster}|m|meta`}, sk: {S: 'm'}},
        UpdateExpression: 'SET #format = :newer',
        ExpressionAttributeNames: {'#format': 'format'},
        ExpressionAttributeValues: {':newer': {N: '99'}},
      });
      expect((await failureOf(open({cluster}))).code).toBe('NewerFormat');
    });

    test('after a restore no revision that may have been seen is used again', async () => {
      const store = await open();
      const before = await create(store, 'a');
      await store.restored(1000);
      expect(keysOf(await store.scan(pods, {prefix: ''}))).toEqual(['a']);
      expect((await failureOf(store.log(pods, before.revision, 10))).code).toBe('Compacted');
      expect((await create(store, 'b')).revision).toBe(before.revision + 1001);
    });

    test('what goes to the tables passes through the transform', async () => {
      const cluster = dynamo.cluster();
      const turned = (mask: number) => (body: Uint8Array) => body.map((byte) => byte ^ mask);
      const sealed = await open({cluster, transform: {seal: turned(0x5a), open: turned(0x5a)}});
      await create(sealed, 'a', 'secret');
      expect(textOf(await sealed.read(pods, 'a'))).toBe('1 secret');
      const plain = await open({cluster});
      expect((await failureOf(plain.read(pods, 'a'))).code).toBe('Corrupt');
    });
  });
}
