/**
 * Sends the changes of a type to those who subscribed. The stream that rings says only that there is something: its shards are late, doubled
 * and side by side. So one at a time has the right to send a type's changes, reads them from the log in their order, and goes on from where
 * the last one stopped.
 */
import {requireAllowed} from '../../shared/auth/authorize.ts';
import {FeedEvent} from '../../shared/changes/hub.ts';
import {coveredFrom} from '../../shared/changes/protocol/coverage.ts';
import type {Feed} from '../../shared/changes/protocol/feed.ts';
import {encodeServerMessage, eventMessages} from '../../shared/changes/protocol/frames.ts';
import {closeCodes} from '../../shared/changes/protocol/messages.ts';
import {requestOf, selectionOf} from '../../shared/changes/protocol/topic.ts';
import {attributesOf, requestInfo} from '../../shared/http/request-info.ts';
import {statusOf} from '../../shared/http/status.ts';
import {feedFor} from '../../shared/registry/watch.ts';
import type {Change, Revision} from '../../shared/storage/contract.ts';
import type {Lease, Subscription} from './connections.ts';
import {doors} from './doors.ts';
import {log} from './log.ts';
import {linesOf, type SocketParts} from './socket-session.ts';

/** Longer than a page takes to be sent, shorter than clients want to wait for one who died. */
const leaseMs = 30_000;
const pageChanges = 200;
/** Who waits for somebody who sends looks this often. */
const waitMs = 500;
const connectionsAtOnce = 64;

/** Resolves when everything that rang has been sent, by us or by somebody else. */
export async function sendChanges(parts: SocketParts, type: string, holder: string): Promise<void> {
  const {connections} = parts;
  const {subscriptions} = await connections.of(type);
  // Who subscribes from now on asks for the head later than this, and is sent by itself what lies before it.
  if (subscriptions.length === 0) return;
  for (;;) {
    const got = await connections.acquire(type, holder, leaseMs);
    if ('rings' in got) return sendAll(parts, type, holder, got, Math.min(...subscriptions.map(({since, floor}) => since ?? floor)));
    // Not left to them alone: one who dies with the right would take the ring along.
    for (;;) {
      await pause(waitMs);
      const heard = await connections.heard(type, got.ring);
      if (heard === true) return;
      if (heard === 'left') break;
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void doors.clock.after(ms, resolve));

/** `floor`: up to where everybody is sent what there is by itself. */
async function sendAll(parts: SocketParts, type: string, holder: string, first: Lease, floor: Revision): Promise<void> {
  const {connections, cluster} = parts;
  const {store} = cluster.assembly.machine;
  const feeds = new Map<string, Promise<Feed>>();
  let {position, rings} = first;
  position = Math.max(position, floor);
  for (;;) {
    const head = await store.head(type);
    while (position < head) {
      const page = await store.log(type, position, head, pageChanges);
      const through = page.length < pageChanges ? head : page[page.length - 1]!.revision;
      if (page.length > 0) await send(parts, type, {start: position, changes: page}, feeds);
      position = through;
      // The last page's end is told by letting go. Somebody took us for dead and sends the same again: that is passed over by who gets it twice.
      if (position < head && !(await connections.advance(type, holder, {position}, leaseMs))) return;
    }
    // As of before the head was asked for: who rang since then may have changes behind it.
    if (await connections.release(type, holder, {position, rings})) return;
    const rung = await connections.advance(type, holder, {position, done: rings}, leaseMs);
    if (!rung) return;
    ({rings} = rung);
  }
}

interface Page {
  /** It has everything that is later, up to its last change. */
  start: Revision;
  changes: readonly Change[];
}

async function send(parts: SocketParts, type: string, {start, changes}: Page, feeds: Map<string, Promise<Feed>>): Promise<void> {
  const {connections, cluster} = parts;
  const {machine} = cluster.assembly;
  // After the page was read: whoever is not found now asks for a head that lies behind it.
  const {subscriptions, last} = await connections.of(type);
  // Rights that were taken away count from here on.
  await machine.store.begin?.({});
  const events = changes.map((change) => new FeedEvent(change));
  const outgoing = new Map<string, Uint8Array[]>();
  const positions = new Map<string, Revision>();
  for (const [topic, subscribers] of byTopic(subscriptions)) {
    const {text} = subscribers[0]!;
    let to: Revision;
    let messages: Uint8Array[];
    try {
      const feed = feeds.get(text) ?? feedFor(machine, selectionOf(text));
      feeds.set(text, feed);
      const lines = linesOf(await feed, events);
      if (lines.length === 0) continue;
      to = lines[lines.length - 1]!.revision;
      const since = subscribers.map((subscription) => subscription.since);
      messages = eventMessages(topic, coveredFrom(start, last.get(topic), since), to, lines);
    } catch (error) {
      // Whatever is wrong with an event here, the other topics shall have theirs.
      for (const subscription of subscribers) await end(parts, subscription, error);
      continue;
    }
    const allowed = await stillAllowed(parts, subscribers);
    for (const {connection} of allowed) outgoing.set(connection, [...(outgoing.get(connection) ?? []), ...messages]);
    positions.set(topic, to);
  }
  await inParallel([...outgoing], connectionsAtOnce, ([connection, messages]) => deliver(parts, connection, messages));
  await Promise.all([...positions].map(([topic, to]) => connections.sent(type, topic, to)));
}

function byTopic(subscriptions: readonly Subscription[]): Map<string, Subscription[]> {
  const topics = new Map<string, Subscription[]>();
  for (const subscription of subscriptions) {
    const subscribers = topics.get(subscription.topic);
    if (subscribers) subscribers.push(subscription);
    else topics.set(subscription.topic, [subscription]);
  }
  return topics;
}

/** Those whose credential is good and who may still have what they subscribed to; one connection once. The others are told. */
async function stillAllowed(parts: SocketParts, subscribers: readonly Subscription[]): Promise<Subscription[]> {
  const {cluster} = parts;
  const now = doors.clock.now();
  const allowed = new Map<string, Subscription>();
  for (const subscription of subscribers) {
    const {connection, user, expiresAt, text} = subscription;
    // Shown again while it subscribed, maybe: what the connection says counts.
    if (expiresAt <= now && ((await parts.connections.read(connection))?.connection.expiresAt ?? 0) <= now) {
      await hangUp(parts, connection, closeCodes.unauthorized, 'the credential has expired');
      continue;
    }
    const {method, path, query} = requestOf(selectionOf(text));
    try {
      await requireAllowed(cluster.assembly.machine.authorizer, attributesOf(requestInfo(method, path, query), user));
      allowed.set(connection, subscription);
    } catch (error) {
      await end(parts, subscription, error);
    }
  }
  return [...allowed.values()];
}

async function deliver(parts: SocketParts, connection: string, messages: readonly Uint8Array[]): Promise<void> {
  try {
    if ((await parts.sockets.post(connection, messages)) === 'gone') await parts.connections.remove(connection);
  } catch (error) {
    // One who takes nothing must not keep the others waiting: it comes again, and goes on from where it is.
    log.warn({connection, error: String(error)}, 'hung up on a connection that takes nothing');
    await hangUp(parts, connection, closeCodes.slow, 'too much waits to be sent');
  }
}

async function end({connections, sockets}: SocketParts, subscription: Subscription, error: unknown): Promise<void> {
  await connections.unsubscribe([subscription]);
  const {connection, id} = subscription;
  await sockets.post(connection, [encodeServerMessage({action: 'error', id, status: statusOf(error).status})]);
}

async function hangUp({sockets, connections}: SocketParts, connection: string, code: number, reason: string): Promise<void> {
  await connections.remove(connection);
  await sockets.post(connection, [encodeServerMessage({action: 'bye', code, reason})]).catch(() => {});
  await sockets.close(connection).catch(() => {});
}

async function inParallel<T>(items: readonly T[], width: number, act: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await act(items[next++]!);
  };
  await Promise.all(Array.from({length: Math.min(width, items.length)}, worker));
}
