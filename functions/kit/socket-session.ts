/**
 * One message of a connection that API Gateway holds: what is known of it is read from the table, shared/changes/protocol decides, and
 * what it decides is done here. Changes that come later are sent by fan-out.ts.
 */
import type {UserInfo} from '../../shared/auth/user.ts';
import {FeedEvent} from '../../shared/changes/hub.ts';
import type {Feed} from '../../shared/changes/protocol/feed.ts';
import {encodeServerMessage, eventMessages, type Line} from '../../shared/changes/protocol/frames.ts';
import {maxReplayChanges} from '../../shared/changes/protocol/limits.ts';
import {closeCodes, type SubscribeMessage} from '../../shared/changes/protocol/messages.ts';
import {type ConnectionState, decide, expiryOf, type Order, welcome} from '../../shared/changes/protocol/server.ts';
import {requestOf, selectionOf, topicText} from '../../shared/changes/protocol/topic.ts';
import {gone as expired, type Status, StatusError, unauthorized} from '../../shared/errors.ts';
import type {ApiRequest} from '../../shared/http/messages.ts';
import {statusOf} from '../../shared/http/status.ts';
import {feedFor} from '../../shared/registry/watch.ts';
import type {Revision} from '../../shared/storage/contract.ts';
import type {Cluster} from './cluster.ts';
import type {Connection, Connections, Subscription} from './connections.ts';
import {doors} from './doors.ts';
import type {Sockets} from './sockets.ts';
import type {Streams} from './streams.ts';
import type {Tunnels} from './tunnels.ts';

export interface SocketParts {
  cluster: Cluster;
  connections: Connections;
  tunnels: Tunnels;
  streams: Streams;
  sockets: Sockets;
}

/** Below the ten minutes after which the gateway ends what is idle; each costs a message and what it reads. */
const pingSeconds = 240;
const pageChanges = 500;
const anonymousName = 'system:anonymous';

/** Who asks with a token, or by what the handshake carried. @throws StatusError 401 */
export async function authenticated({assembly}: Cluster, request: ApiRequest): Promise<UserInfo> {
  const user = await assembly.authenticate(request, () => {});
  if (user.name === anonymousName) throw unauthorized();
  return user;
}

export async function receive(
  parts: SocketParts,
  id: string,
  text: string,
  known: Awaited<ReturnType<Connections['read']>>,
): Promise<void> {
  if (!known) {
    // Forgotten, or never heard of: its client comes again and begins anew.
    await new SocketSession(parts, id, {connectedAt: 0}, []).leave(closeCodes.goingAway, 'this connection is not known');
    return;
  }
  await new SocketSession(parts, id, known.connection, known.subscriptions).receive(text);
}

class SocketSession {
  readonly #parts: SocketParts;
  readonly #id: string;
  readonly #connection: Connection;
  readonly #subscriptions: Subscription[];

  constructor(parts: SocketParts, id: string, connection: Connection, subscriptions: Subscription[]) {
    this.#parts = parts;
    this.#id = id;
    this.#connection = connection;
    this.#subscriptions = subscriptions;
  }

  async receive(text: string): Promise<void> {
    const now = doors.clock.now();
    const {connectedAt, user, expiresAt} = this.#connection;
    const state: ConnectionState = {
      connectedAt,
      heardAt: now,
      ...(user && {user}),
      ...(expiresAt !== undefined && {expiresAt}),
      topics: new Map(this.#subscriptions.map(({id, topic}) => [id, topic])),
    };
    await this.#carryOut(decide(state, text, now));
  }

  async leave(code: number, reason: string): Promise<void> {
    const {sockets, connections} = this.#parts;
    await this.#post([encodeServerMessage({action: 'bye', code, reason})]);
    await connections.remove(this.#id);
    await sockets.close(this.#id);
  }

  async #carryOut(order: Order): Promise<void> {
    switch (order.do) {
      case 'authenticate':
        return this.#authenticate(order.token);
      case 'subscribe':
        return this.#about(order.message.id, () => this.#subscribe(order.user, order.message));
      case 'unsubscribe':
        return this.#drop(order.id);
      case 'replay':
        return this.#about(order.id, () => this.#repeat(order.id, order.from));
      case 'progress':
        return this.#pong();
      case 'refuse':
        return this.#refuse(order.id, order.status);
      case 'leave':
        if (order.status) await this.#refuse(undefined, order.status);
        return this.leave(order.code, order.reason);
    }
  }

  async #authenticate(token: string | undefined): Promise<void> {
    const {cluster, connections} = this.#parts;
    const {speaker, user: before, connectedAt} = this.#connection;
    const now = doors.clock.now();
    let user: UserInfo;
    let expiresAt: number;
    try {
      if (token === undefined) {
        if (!speaker || speaker.expiresAt <= now) throw unauthorized();
        ({user, expiresAt} = speaker);
      } else {
        user = await authenticated(cluster, {method: 'GET', path: '/', query: [], headers: {authorization: `Bearer ${token}`}});
        expiresAt = expiryOf(token, now);
      }
    } catch (error) {
      const {status} = statusOf(error);
      await this.#refuse(undefined, status);
      if (status.code === 401) await this.leave(closeCodes.unauthorized, 'not authenticated');
      return;
    }
    // The subscriptions were granted to somebody: another one cannot take them over.
    if (before && before.name !== user.name) return this.leave(closeCodes.unauthorized, 'the credential is of somebody else');
    const connection: Connection = {...this.#connection, user, expiresAt};
    await connections.greet(
      this.#id,
      connection,
      this.#subscriptions.map((subscription) => ({...subscription, user, expiresAt})),
    );
    await this.#post([encodeServerMessage(welcome({connectedAt, heardAt: now, expiresAt, topics: new Map()}, now, pingSeconds))]);
  }

  async #subscribe(user: UserInfo, message: SubscribeMessage): Promise<void> {
    const {cluster, connections} = this.#parts;
    const {id, resourceVersion} = message;
    await this.#drop(id);
    const feed = await openFeed(cluster, user, message);
    const {store} = cluster.assembly.machine;
    const {type} = feed.hub;
    const subscription: Subscription = {
      connection: this.#id,
      id,
      type,
      topic: feed.topic,
      text: topicText(message),
      born: crypto.randomUUID(),
      floor: await store.head(type),
      user,
      expiresAt: this.#connection.expiresAt ?? 0,
    };
    await connections.subscribe(subscription);
    await this.#post([encodeServerMessage({action: 'subscribed', id, topic: feed.topic, resourceVersion})]);
    try {
      // Asked after it can be found by those who send changes: what comes later reaches it by its topic.
      const since = await store.head(type);
      // Somebody has ended it, or has taken its name and sends what lies behind that one.
      if (!(await connections.settle(subscription, since))) return;
      await this.#replay(feed, resourceVersion, since);
    } catch (error) {
      await connections.unsubscribe([subscription]);
      throw error;
    }
  }

  async #repeat(id: string, from: Revision): Promise<void> {
    const {text} = this.#subscriptions.find((subscription) => subscription.id === id)!;
    const {machine} = this.#parts.cluster.assembly;
    const feed = await feedFor(machine, selectionOf(text));
    await this.#replay(feed, from, await machine.store.head(feed.hub.type));
  }

  async #replay(feed: Feed, from: Revision, to: Revision): Promise<void> {
    const {store} = this.#parts.cluster.assembly.machine;
    let seen = 0;
    for (let position = from; position < to; ) {
      const page = await store.log(feed.hub.type, position, to, pageChanges);
      const through = page.length < pageChanges ? to : page[page.length - 1]!.revision;
      seen += page.length;
      if (seen > maxReplayChanges) throw expired(`more than ${maxReplayChanges} changes lie behind it; list again`);
      const lines = linesOf(
        feed,
        page.map((change) => new FeedEvent(change)),
      );
      if (!(await this.#post(eventMessages(feed.topic, position, through, lines)))) return;
      position = through;
    }
  }

  async #pong(): Promise<void> {
    const progress = await this.#parts.connections.progress(this.#subscriptions);
    await this.#post([encodeServerMessage({action: 'pong', progress: Object.fromEntries(progress)})]);
  }

  async #drop(id: string): Promise<void> {
    const at = this.#subscriptions.findIndex((subscription) => subscription.id === id);
    if (at >= 0) await this.#parts.connections.unsubscribe(this.#subscriptions.splice(at, 1));
  }

  async #about(id: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      await this.#refuse(id, statusOf(error).status);
    }
  }

  async #refuse(id: string | undefined, status: Status): Promise<void> {
    await this.#post([encodeServerMessage({action: 'error', ...(id !== undefined && {id}), status})]);
  }

  /** False when there is nobody to hear it. */
  async #post(messages: readonly Uint8Array[]): Promise<boolean> {
    const {sockets, connections} = this.#parts;
    if ((await sockets.post(this.#id, messages)) === 'sent') return true;
    await connections.remove(this.#id);
    return false;
  }
}

/** Authorized, and with its selectors read. @throws StatusError */
async function openFeed({handle}: Cluster, user: UserInfo, message: SubscribeMessage): Promise<Feed> {
  const {feed, body} = await handle({...requestOf(message), user, asFeed: true});
  if (feed) return feed;
  throw new StatusError(JSON.parse(Buffer.from(body as Uint8Array).toString()) as Status);
}

export function linesOf(feed: Feed, events: readonly FeedEvent[]): Line[] {
  const lines: Line[] = [];
  for (const event of events) {
    const bytes = feed.line(event);
    if (bytes) lines.push({revision: event.change.revision, bytes});
  }
  return lines;
}
