/**
 * One connection of a server that holds its connections: does what server.ts decides, in the order in which messages came. Knows no
 * socket (the gateway's affair) and no API (`rooms` asks it).
 */
import type {UserInfo} from '../../auth/user.ts';
import type {Clock} from '../../clock.ts';
import {type Status, tooManyRequests} from '../../errors.ts';
import {statusOf} from '../../http/status.ts';
import type {Revision} from '../../storage/contract.ts';
import type {Receiver, Topic, Topics} from './broadcast.ts';
import type {Feed} from './feed.ts';
import {encodeServerMessage} from './frames.ts';
import {closeCodes, type Progress, type Selection, type SubscribeMessage} from './messages.ts';
import {type ConnectionState, decide, decideByTime, expiryOf, type Order, wakeAt, welcome} from './server.ts';

/** What a connection asks of the API. Both throw StatusError. */
export interface Rooms {
  /** Without a token: whoever the connection itself speaks for. */
  authenticate(token: string | undefined): Promise<UserInfo>;
  /** Authorizes, and reads the selectors. */
  open(user: UserInfo, selection: Selection): Promise<Feed>;
}

export interface Carrier {
  send(message: Uint8Array): void;
  /** Resolves when little waits to be sent. */
  room(): Promise<void> | undefined;
  /** More waits to be sent than a client may leave lying. */
  readonly overfull: boolean;
  close(code: number, reason: string): void;
}

export interface SessionOptions {
  rooms: Rooms;
  topics: Topics;
  carrier: Carrier;
  clock: Clock;
}

/** Clients of a server near by may hear of quiet topics as often as HTTP watches do. */
const pingSeconds = 60;
/** Rights that were taken away end a subscription within this time. */
const reviewMs = 60_000;
/** Messages that wait for those before them. */
const maxWaiting = 1_000;

interface Subscription {
  id: string;
  message: SubscribeMessage;
  follower: Follower;
  closed: boolean;
  repeating: boolean;
}

/** A topic as this connection hears it: once, for all its subscriptions to it. */
interface Follower extends Receiver {
  topic: Topic;
  closed: boolean;
  readonly ids: Set<string>;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #topicIds = new Map<string, string>();
  readonly #followers = new Map<string, Follower>();
  readonly #state: ConnectionState;
  /** As it was last shown, to see whether it still holds. */
  #token: string | undefined;
  #before: Promise<void> = Promise.resolve();
  #waiting = 0;
  #cancelWake = (): void => {};
  #cancelReview = (): void => {};
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const now = options.clock.now();
    this.#state = {connectedAt: now, heardAt: now, topics: this.#topicIds};
    this.#wakeLater();
    this.#reviewLater();
  }

  receive(text: string): void {
    if (this.#closed) return;
    if (++this.#waiting > maxWaiting) {
      this.#leave(closeCodes.tooMany, 'too many messages');
      return;
    }
    this.#before = this.#before.then(async () => {
      this.#waiting--;
      if (this.#closed) return;
      const order = decide(this.#state, text, this.#options.clock.now());
      await this.#carryOut(order).catch((error: unknown) => this.#refuse(undefined, statusOf(error).status));
    });
  }

  /** The server goes. */
  drain(): void {
    this.#leave(closeCodes.goingAway, 'the server goes');
  }

  /** The client is gone. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelWake();
    this.#cancelReview();
    for (const id of [...this.#subscriptions.keys()]) this.#drop(id);
  }

  async #carryOut(order: Order): Promise<void> {
    switch (order.do) {
      case 'authenticate':
        return this.#authenticate(order.token);
      case 'subscribe':
        return this.#subscribe(order.user, order.message);
      case 'unsubscribe':
        return this.#drop(order.id);
      case 'replay':
        return this.#repeat(order.id, order.from);
      case 'progress':
        return this.#pong();
      case 'refuse':
        return this.#refuse(order.id, order.status);
      case 'leave':
        if (order.status) this.#refuse(undefined, order.status);
        this.#leave(order.code, order.reason);
    }
  }

  async #authenticate(token: string | undefined): Promise<void> {
    const {rooms, clock, carrier} = this.#options;
    const known = this.#state.user;
    try {
      const user = await rooms.authenticate(token);
      // The subscriptions were granted to somebody: another one cannot take them over.
      if (known && known.name !== user.name) return this.#leave(closeCodes.unauthorized, 'the credential is of somebody else');
      const now = clock.now();
      this.#token = token;
      this.#state.user = user;
      this.#state.expiresAt = expiryOf(token, now);
      this.#wakeLater();
      carrier.send(encodeServerMessage(welcome(this.#state, now, pingSeconds)));
    } catch (error) {
      const {status} = statusOf(error);
      this.#refuse(undefined, status);
      if (status.code === 401) this.#leave(closeCodes.unauthorized, 'not authenticated');
    }
  }

  async #subscribe(user: UserInfo, message: SubscribeMessage): Promise<void> {
    const {rooms, topics, carrier} = this.#options;
    const {id, resourceVersion} = message;
    this.#drop(id);
    let feed: Feed;
    try {
      feed = await rooms.open(user, message);
    } catch (error) {
      this.#refuse(id, statusOf(error).status);
      return;
    }
    if (this.#closed) return;
    const known = this.#followers.get(feed.topic);
    const follower = known ?? this.#followerOf(topics.of(feed));
    follower.ids.add(id);
    this.#subscriptions.set(id, {id, message, follower, closed: false, repeating: false});
    this.#topicIds.set(id, feed.topic);
    carrier.send(encodeServerMessage({action: 'subscribed', id, topic: feed.topic, resourceVersion}));
    // Not waited for: a long past must not keep the other messages waiting.
    if (known) this.#repeat(id, resourceVersion);
    else void this.#follow(follower, id, resourceVersion);
  }

  #followerOf(topic: Topic): Follower {
    const follower: Follower = {
      topic,
      closed: false,
      ids: new Set(),
      send: (bytes) => this.#push(bytes),
      room: () => this.#options.carrier.room(),
      ended: (error) => {
        for (const id of [...follower.ids]) this.#end(id, error);
      },
    };
    this.#followers.set(topic.id, follower);
    return follower;
  }

  async #follow(follower: Follower, id: string, from: Revision): Promise<void> {
    const {topic} = follower;
    try {
      await topic.follow(follower, from);
      if (follower.closed) topic.leave(follower);
    } catch (error) {
      if (follower.ids.has(id)) this.#end(id, error);
      // The others may be able to go on, each from where it is.
      follower.ended(tooManyRequests('the topic is begun anew', 1));
    }
  }

  #repeat(id: string, from: Revision): void {
    const subscription = this.#subscriptions.get(id);
    if (!subscription || subscription.repeating) return;
    subscription.repeating = true;
    const {follower} = subscription;
    follower.topic.repeat(follower, from).then(
      () => {
        subscription.repeating = false;
      },
      (error: unknown) => subscription.closed || this.#end(id, error),
    );
  }

  async #pong(): Promise<void> {
    const progress: Record<string, Progress> = Object.create(null);
    const subscriptions = [...this.#subscriptions.values()];
    const positions = await Promise.all(subscriptions.map(({follower}) => follower.topic.progress()));
    for (const [at, subscription] of subscriptions.entries()) if (!subscription.closed) progress[subscription.id] = positions[at]!;
    if (!this.#closed) this.#options.carrier.send(encodeServerMessage({action: 'pong', progress}));
  }

  #push(bytes: Uint8Array): void {
    if (this.#closed) return;
    const {carrier} = this.#options;
    if (carrier.overfull) this.#leave(closeCodes.slow, 'too much waits to be sent');
    else carrier.send(bytes);
  }

  #end(id: string, error: unknown): void {
    this.#drop(id);
    this.#refuse(id, statusOf(error).status);
  }

  #drop(id: string): void {
    const subscription = this.#subscriptions.get(id);
    if (!subscription) return;
    subscription.closed = true;
    this.#subscriptions.delete(id);
    this.#topicIds.delete(id);
    const {follower} = subscription;
    follower.ids.delete(id);
    if (follower.ids.size > 0) return;
    follower.closed = true;
    this.#followers.delete(follower.topic.id);
    follower.topic.leave(follower);
  }

  #refuse(id: string | undefined, status: Status): void {
    if (!this.#closed) this.#options.carrier.send(encodeServerMessage({action: 'error', ...(id !== undefined && {id}), status}));
  }

  #leave(code: number, reason: string): void {
    if (this.#closed) return;
    const {carrier} = this.#options;
    carrier.send(encodeServerMessage({action: 'bye', code, reason}));
    this.close();
    carrier.close(code, reason);
  }

  #wakeLater(): void {
    this.#cancelWake();
    const {clock} = this.#options;
    this.#cancelWake = clock.after(Math.max(0, wakeAt(this.#state) - clock.now()), () => {
      const order = decideByTime(this.#state, clock.now());
      if (order) void this.#carryOut(order);
      else if (!this.#closed) this.#wakeLater();
    });
  }

  #reviewLater(): void {
    this.#cancelReview = this.#options.clock.after(reviewMs, () => {
      void this.#review().finally(() => {
        if (!this.#closed) this.#reviewLater();
      });
    });
  }

  /** Whether the credential is still good, and may still have what it was given. */
  async #review(): Promise<void> {
    const {rooms} = this.#options;
    if (!this.#state.user || this.#closed) return;
    let user: UserInfo;
    try {
      user = await rooms.authenticate(this.#token);
    } catch (error) {
      const {status} = statusOf(error);
      // Not being able to tell is no reason to hang up: the credential has an end anyway.
      if (status.code !== 401) return;
      this.#refuse(undefined, status);
      return this.#leave(closeCodes.unauthorized, 'the credential is no longer good');
    }
    this.#state.user = user;
    for (const {id, message} of [...this.#subscriptions.values()]) {
      try {
        await rooms.open(user, message);
      } catch (error) {
        const {code} = statusOf(error).status;
        if (code >= 400 && code < 500 && code !== 429 && this.#subscriptions.has(id)) this.#end(id, error);
      }
    }
  }
}
