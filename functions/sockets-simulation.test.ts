/**
 * Clients of the watch protocol against the functions, over a double of the tables: calls and posts take their time, rings come late,
 * twice and at once, clients leave and come back, connections break. Every watcher has every event once and in order, and no frame or
 * pong says more than the log.
 */
import {createHash} from 'node:crypto';
import {afterEach, expect, test, vi} from 'vitest';
import {type ClientSubscription, WatchClient} from '../shared/changes/protocol/client.ts';
import type {Transport, TransportEvents} from '../shared/changes/protocol/link.ts';
import type {Selection} from '../shared/changes/protocol/messages.ts';
import {topicId} from '../shared/changes/protocol/topic.ts';
import {eventTypeOf} from '../shared/changes/watcher.ts';
import {ManualClock} from '../shared/clock.ts';
import type {Change, Revision} from '../shared/storage/contract.ts';
import type {DynamoCalls} from '../shared/storage/dynamo/calls.ts';
import {openDynamo} from '../shared/storage/dynamo/open.ts';
import {seededRandom} from '../shared/storage/faults.ts';
import type {RestHandler} from './kit/rest.ts';
import type {SocketHandler} from './kit/socket-handler.ts';

const runs = Number(process.env['SIMULATION_RUNS'] ?? 12);
const firstSeed = Number(process.env['SIMULATION_SEED'] ?? 1);
const steps = 500;
const protocol = 'v1.watch.clusterless.dev';
const host = 'abcdef1234.execute-api.us-east-1.amazonaws.com';
const tables = {objects: 'objects', log: 'log'};

const selectionOf = (namespace: string, labelSelector: string): Selection => ({
  collection: {group: '', version: 'v1', resource: 'configmaps', namespace},
  labelSelector,
  fieldSelector: '',
  accept: 'application/json',
});
const selections = [selectionOf('', ''), selectionOf('a', ''), selectionOf('a', 'app=web'), selectionOf('b', 'app=db')];
const names = ['one', 'two', 'three'];
const apps = ['web', 'db', 'none'];

afterEach(() => void vi.restoreAllMocks());

/** Things that have been begun and not ended; chance says which goes on. */
class UnderWay {
  readonly #waiting: (() => void)[] = [];
  open = false;

  get size(): number {
    return this.#waiting.length;
  }

  pass(): Promise<void> {
    return this.open ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve));
  }

  goOn(at: number): void {
    this.#waiting.splice(at, 1)[0]?.();
  }
}

/** Each call takes until it happens, and then until it is answered. */
function taking(calls: DynamoCalls, underWay: UnderWay): DynamoCalls {
  return new Proxy(calls, {
    get(target, name) {
      const call = target[name as keyof DynamoCalls];
      if (typeof call !== 'function') return call;
      return async (...args: unknown[]) => {
        await underWay.pass();
        try {
          return await (call as (...args: unknown[]) => Promise<unknown>).apply(target, args);
        } finally {
          await underWay.pass();
        }
      };
    },
  });
}

interface Line {
  /** Between those that its client says by itself, which are rare. */
  ping(): void;
  hangUp(code: number): void;
  hear(text: string): void;
}

/** What API Gateway does: connections by name, each message a call of a function, posts that may come in any order. */
class Gateway {
  readonly lines = new Map<string, Line>();
  readonly flights: (() => void)[] = [];
  /** All that was posted, also to nobody. */
  readonly posted: {connection: string; text: string}[] = [];
  readonly #underWay: UnderWay;

  constructor(underWay: UnderWay) {
    this.#underWay = underWay;
  }

  async post(connection: string, messages: readonly Uint8Array[]): Promise<'sent' | 'gone'> {
    for (const message of messages) {
      const text = Buffer.from(message).toString();
      this.posted.push({connection, text});
      await this.#underWay.pass();
      if (!this.lines.has(connection)) return 'gone';
      this.flights.push(() => this.lines.get(connection)?.hear(text));
    }
    return 'sent';
  }

  async close(connection: string): Promise<void> {
    this.lines.get(connection)?.hangUp(1000);
  }

  deliver(at: number): void {
    this.flights.splice(at, 1)[0]?.();
  }
}

interface Watcher {
  selection: Selection;
  from: Revision;
  position: Revision;
  seen: string[];
  subscription: ClientSubscription | undefined;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function simulate(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const upTo = (count: number): number => Math.floor(random() * count);
  const pick = <T>(from: readonly T[]): T => from[upTo(from.length)]!;
  vi.resetModules();
  // WebCrypto's takes its time in another thread, and a seed could not be replayed.
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (algorithm, data) => {
    const hash = createHash(String(algorithm).replace('-', '')).update(data as Uint8Array);
    return new Uint8Array(hash.digest()).buffer;
  });
  const clock = new ManualClock();
  const underWay = new UnderWay();
  underWay.open = true;
  const gateway = new Gateway(underWay);
  const kit = await import('./kit/testing.ts');
  const {double, records, lines} = await kit.installTables({
    clock,
    openSockets: async () => gateway,
    // Writers get on with it, so that what there is to be told is there at once.
    openStore: ({cluster}, {asks}) => openDynamo({client: asks ? double : taking(double, underWay), tables, cluster, clock}),
  });
  const {doors} = await import('./kit/doors.ts');
  doors.calls = async () => taking(double, underWay);
  const load = async <T>(name: string) =>
    ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as {handler: T}).handler;
  const rest = {
    create: await load<RestHandler>('create'),
    patch: await load<RestHandler>('patch'),
    delete: await load<RestHandler>('delete'),
  };
  const socket = {connect: await load<SocketHandler>('socket-connect'), message: await load<SocketHandler>('socket-message')};
  const disconnect = await load<SocketHandler>('socket-disconnect');
  const fanOut = await load<(event: unknown) => Promise<{batchItemFailures: {itemIdentifier: string}[]}>>('fan-out');
  const store = await openDynamo({client: double, tables, cluster: 'default', clock});

  const live = new Set<string>();
  const json = {'Content-Type': 'application/json'};
  const asked = async (answer: Promise<{statusCode: number; body: string}>): Promise<void> => {
    const {statusCode, body} = await answer;
    expect(statusCode, body).toBeLessThan(300);
  };
  const write = async (): Promise<void> => {
    const [namespace, name, app] = [pick(['a', 'b']), pick(names), pick(apps)];
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const labels = {app, at: String(random())};
    if (!live.has(`${namespace}/${name}`)) {
      const body = {kind: 'ConfigMap', apiVersion: 'v1', metadata: {name, labels}};
      await asked(rest.create(kit.restEvent('POST', path, {headers: json, body})));
      live.add(`${namespace}/${name}`);
    } else if (random() < 0.3) {
      await asked(rest.delete(kit.restEvent('DELETE', `${path}/${name}`)));
      live.delete(`${namespace}/${name}`);
    } else {
      const headers = {'Content-Type': 'application/merge-patch+json'};
      await asked(rest.patch(kit.restEvent('PATCH', `${path}/${name}`, {headers, body: {metadata: {labels}}})));
    }
  };
  let rings = 0;
  const ring = async (batch: object[]): Promise<void> => {
    rings++;
    try {
      const {batchItemFailures} = await fanOut({Records: batch});
      if (batchItemFailures.length > 0) records.push(...batch);
    } finally {
      rings--;
    }
  };

  let connections = 0;
  /** What was subscribed to, by connection and id. */
  const subscribed = new Map<string, Selection>();
  const dial = (events: TransportEvents): Transport => {
    const connection = `c${++connections}`;
    const context = (routeKey: string, eventType: string) => ({
      requestContext: {routeKey, eventType, connectionId: connection, stage: 'prod', domainName: host, identity: {sourceIp: '203.0.113.7'}},
      isBase64Encoded: false,
    });
    const say = (body: string): void =>
      // Not one after the other: nothing promises that.
      void gateway.flights.push(() => void socket.message({...context('$default', 'MESSAGE'), body}));
    let welcome = false;
    const line: Line = {
      ping: () => welcome && say('{"action":"ping"}'),
      hear(text) {
        welcome ||= text.includes('"welcome"');
        events.message(text);
      },
      hangUp(code) {
        if (!gateway.lines.delete(connection)) return;
        // It is told at some time, or never.
        if (random() < 0.7) void disconnect({...context('$disconnect', 'DISCONNECT')});
        events.closed(code, 'the line is cut');
      },
    };
    const headers = {Host: host, 'Sec-WebSocket-Protocol': protocol};
    const multiValueHeaders = {'Sec-WebSocket-Protocol': [protocol]};
    gateway.lines.set(connection, line);
    void socket.connect({...context('$connect', 'CONNECT'), headers, multiValueHeaders}).then(({statusCode}) => {
      if (statusCode !== 200) line.hangUp(1006);
      else if (gateway.lines.has(connection)) events.open();
    });
    return {
      send(text) {
        const {action, id, collection, labelSelector = ''} = JSON.parse(text);
        if (action === 'subscribe') subscribed.set(`${connection} ${id}`, selectionOf(collection.namespace, labelSelector));
        say(text);
      },
      close: (code) => line.hangUp(code),
    };
  };
  const clients = [0, 1].map(() => new WatchClient({dial, clock, random, token: async () => kit.adminToken}));

  for (const name of ['a', 'b'])
    await asked(
      rest.create(
        kit.restEvent('POST', '/api/v1/namespaces', {headers: json, body: {kind: 'Namespace', apiVersion: 'v1', metadata: {name}}}),
      ),
    );
  await write();
  await ring(records.splice(0));
  const first = await store.head('configmaps');
  const watchers: Watcher[] = [];
  const enter = (watcher: Watcher): void => {
    watcher.subscription = pick(clients).subscribe(watcher.selection, watcher.position, {
      events(events) {
        for (const {line} of events) watcher.seen.push(briefly(JSON.parse(line)));
      },
      failed({code}) {
        // Nobody answered for long enough.
        expect(code).toBe(503);
        watcher.position = watcher.subscription!.position;
        watcher.subscription = undefined;
      },
    });
  };
  const leave = (watcher: Watcher): void => {
    watcher.position = watcher.subscription!.position;
    watcher.subscription!.close();
    watcher.subscription = undefined;
  };

  // An environment takes a while to open; it has been, mostly.
  const opened = clients[0]!.subscribe(selections[0]!, first, {events() {}, failed() {}});
  for (let at = 0; at < 50; at++) {
    gateway.deliver(0);
    await turn();
  }
  opened.close();
  underWay.open = false;
  for (let step = 0; step < steps; step++) {
    const dice = random();
    const watcher = watchers[upTo(watchers.length)];
    if (dice < 0.09) await write();
    else if (dice < 0.55) underWay.goOn(upTo(underWay.size));
    else if (dice < 0.75) gateway.deliver(random() < 0.8 ? 0 : upTo(gateway.flights.length));
    else if (dice < 0.76) gateway.flights.splice(upTo(gateway.flights.length), 1);
    else if (dice < 0.77 && gateway.flights.length > 0) gateway.flights.push(pick(gateway.flights));
    else if (dice < 0.85 && records.length > 0) {
      const batch = records.splice(upTo(records.length), 1 + upTo(3));
      if (random() < 0.2) records.push(...batch);
      void ring(batch);
    } else if (dice < 0.9 && watchers.length < 5) {
      const from = Math.max(first, (await store.head('configmaps')) - upTo(4));
      const fresh: Watcher = {selection: pick(selections), from, position: from, seen: [], subscription: undefined};
      watchers.push(fresh);
      enter(fresh);
    } else if (dice < 0.96 && watcher) {
      if (!watcher.subscription) enter(watcher);
      else if (random() < 0.7) leave(watcher);
    } else if (dice < 0.965) [...gateway.lines.values()][upTo(gateway.lines.size)]?.hangUp(1006);
    else if (dice < 0.98) [...gateway.lines.values()][upTo(gateway.lines.size)]?.ping();
    else if (dice < 0.99) clock.advance(upTo(600));
    else if (dice < 0.995) clock.advance(upTo(40_000));
    else if (dice < 0.997) clock.advance(upTo(3_000_000));
    await turn();
  }

  const changes = await store.log('configmaps', first, await store.head('configmaps'));
  const expected = watchers.map(({selection, from}) =>
    changes.flatMap((change) => {
      const type = change.revision > from && eventTypeOf(change, scopeOf(selection));
      return type ? [`${type} ${change.key} ${change.revision}`] : [];
    }),
  );
  for (const watcher of watchers) if (!watcher.subscription) enter(watcher);
  const isDone = (): boolean => watchers.every(({seen}, at) => seen.length >= expected[at]!.length) && rings === 0 && records.length === 0;
  underWay.open = true;
  for (let round = 0; round < 400 && !isDone(); round++) {
    if (records.length > 0) void ring(records.splice(0));
    for (let quiet = 0; quiet < 4; quiet++) {
      if (underWay.size + gateway.flights.length > 0) quiet = 0;
      while (underWay.size > 0) underWay.goOn(0);
      while (gateway.flights.length > 0) gateway.deliver(0);
      await turn();
    }
    for (const watcher of watchers) if (!watcher.subscription) enter(watcher);
    clock.advance(5_000);
  }
  for (const client of clients) client.close();
  await checkClaims(gateway, changes, first, subscribed);
  for (const [at, {seen}] of watchers.entries()) expect(seen).toEqual(expected[at]);
  expect([rings, records.length]).toEqual([0, 0]);
  // The database may have taken longer than anybody waits: whoever was rung is rung again.
  expect(lines.filter(({level, error}) => level === 'ERROR' && !String(error).startsWith('StoreError'))).toEqual([]);
}

interface Briefed {
  type: string;
  object: {metadata: {namespace: string; name: string; resourceVersion: string}};
}

const briefly = ({type, object: {metadata}}: Briefed): string =>
  `${type} ${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`;

function scopeOf({collection: {namespace}, labelSelector}: Selection): Parameters<typeof eventTypeOf>[1] {
  const [label, value] = labelSelector.split('=');
  return {
    prefix: namespace && `${namespace}/`,
    ...(label && {matches: ({index}: Pick<Change, 'index'>) => index.labels?.[label] === value}),
  };
}

/** Whoever is at the beginning of a frame's or a pong's range, and had all before, may take what it says for all there was. */
async function checkClaims(
  gateway: Gateway,
  changes: readonly Change[],
  first: Revision,
  subscribed: Map<string, Selection>,
): Promise<void> {
  const topics = new Map<string, Selection>();
  for (const selection of selections) topics.set(await topicId(selection), selection);
  const concerned = (selection: Selection, from: Revision, to: Revision): Revision[] =>
    changes
      .filter((change) => change.revision > from && change.revision <= to && eventTypeOf(change, scopeOf(selection)))
      .map(({revision}) => revision);
  for (const {connection, text} of gateway.posted) {
    const message = JSON.parse(text.split('\n', 1)[0]!);
    if (message.action === 'events' && Number(message.from) >= first) {
      const {topic, from, to, revisions} = message;
      expect(revisions.map(Number), text).toEqual(concerned(topics.get(topic)!, Number(from), Number(to)));
    }
    if (message.action !== 'pong') continue;
    for (const [id, [last, through]] of Object.entries(message.progress as Record<string, [string, string]>))
      expect(concerned(subscribed.get(`${connection} ${id}`)!, Math.max(first, Number(last)), Number(through)), text).toEqual([]);
  }
}

test(`${runs} histories of a deployment: every watcher has every event once and in order`, async () => {
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    try {
      await simulate(seed);
    } catch (error) {
      throw new Error(`seed ${seed} (SIMULATION_SEED=${seed} SIMULATION_RUNS=1): ${(error as Error).message}`, {cause: error});
    }
  }
}, 240_000);
