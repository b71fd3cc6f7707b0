/**
 * The client's side: subscriptions that outlive their connection. Each knows the revision up to which it has everything; what comes
 * doubled is dropped, what comes early waits, what is missing is asked for again, and a new connection goes on from there. So each
 * listener hears of every event once and in order, whatever happens to messages and connections.
 *
 * Knows no socket: `dial` makes connections. What to do when a subscription cannot go on (410) is its listener's affair.
 */
import {failure, type Status, serviceUnavailable, unauthorized} from '../../errors.ts';
import type {Revision} from '../../storage/contract.ts';
import {maxMessageBytes} from './limits.ts';
import {Link, type LinkOptions} from './link.ts';
import {closeCodes, type EventsMessage, type Progress, type Selection, type ServerMessage, type WireEvent} from './messages.ts';

export type {Transport, TransportEvents} from './link.ts';

export interface SubscriptionListener {
  /** The server has accepted it, once. */
  started?(): void;
  /** In order, each once. */
  events(events: readonly WireEvent[]): void;
  /** Nothing else up to here: where to go on from, later. */
  progress?(through: Revision): void;
  /** It has ended: list again for 410, and give up or ask again for the rest. */
  failed(status: Status): void;
}

export interface ClientSubscription {
  readonly position: Revision;
  close(): void;
}

export interface ClientOptions extends LinkOptions {
  /** For logs: why a connection ended. */
  onClosed?(code: number, reason: string): void;
}

/** A frame that overtook another one gets this long to be overtaken in turn. */
const gapPatienceMs = 250;
/** A replay that brings nothing is asked for again. */
const replayPatienceMs = 5_000;
/** After this many in vain something is wrong with the connection. */
const maxReplays = 3;
/** A subscribe that is not answered is sent again. */
const subscribePatienceMs = 10_000;
const firstBackoffMs = 200;
const maxBackoffMs = 30_000;
/** A connection that lived this long was a good one. */
const goodMs = 10_000;
/** After this many that did not come about, subscriptions are told: whoever waits for events must know that none can come. */
const maxFailures = 6;
/** Frames that wait for a gap to be filled, per subscription; later ones are let go and replayed. */
const maxWaitingFrames = 256;
/** A connection without subscriptions is kept for the next one. */
const lingerMs = 10_000;
/** Errors that another attempt would meet again. */
const isFinal = ({code}: Status): boolean => code >= 400 && code < 500 && code !== 429 && code !== 408;

interface Entry {
  readonly id: string;
  readonly selection: Selection;
  readonly listener: SubscriptionListener;
  position: Revision;
  /** Frames that lie beyond a gap, by where they begin. */
  waiting: EventsMessage[];
  /** Undefined until the present connection has answered. */
  topic: string | undefined;
  replays: number;
  started: boolean;
  closed: boolean;
  cancelTimer(): void;
  cancelRetry(): void;
}

export class WatchClient {
  readonly #options: ClientOptions;
  readonly #entries = new Map<string, Entry>();
  #link: Link | undefined;
  /** Takes over from `#link` once it is welcome. */
  #next: Link | undefined;
  /** Since a connection was last a good one, and since one last came about. */
  #attempts = 0;
  #failures = 0;
  #count = 0;
  #welcomedAt = 0;
  #dialling = false;
  #cancelDial = (): void => {};
  #cancelLinger = (): void => {};
  #closed = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  subscribe(selection: Selection, from: Revision, listener: SubscriptionListener): ClientSubscription {
    const entry: Entry = {
      id: `s${++this.#count}`,
      selection,
      listener,
      position: from,
      waiting: [],
      topic: undefined,
      replays: 0,
      started: false,
      closed: false,
      cancelTimer() {},
      cancelRetry() {},
    };

    const handle: ClientSubscription = {
      get position() {
        return entry.position;
      },
      close: () => this.#remove(entry),
    };
    if (this.#closed) throw new Error('the watch client is closed');
    this.#entries.set(entry.id, entry);
    this.#cancelLinger();
    if (this.#link?.welcomed) this.#send(entry);
    else if (!this.#link && !this.#next && !this.#dialling) this.#dial();
    return handle;
  }

  close(): void {
    this.#closed = true;
    this.#cancelDial();
    this.#cancelLinger();
    for (const entry of [...this.#entries.values()]) this.#remove(entry);
    this.#next?.end(closeCodes.done);
    this.#link?.end(closeCodes.done);
    this.#next = undefined;
    this.#link = undefined;
  }

  #dial(): void {
    this.#cancelDial();
    this.#dialling = false;
    this.#next?.end(closeCodes.done);
    const link: Link = new Link(this.#options, {
      welcome: () => this.#welcomed(link),
      message: (message) => {
        if (link === this.#link) this.#take(link, message);
      },
      replace: () => {
        if (link === this.#link && !this.#next) this.#dial();
      },
      closed: (code, reason) => this.#lost(link, code, reason),
    });
    this.#next = link;
    link.start();
  }

  #welcomed(link: Link): void {
    if (link !== this.#next) {
      link.end(closeCodes.done);
      return;
    }
    const former = this.#link;
    this.#link = link;
    this.#next = undefined;
    this.#welcomedAt = this.#options.clock.now();
    this.#failures = 0;
    former?.end(closeCodes.done);
    for (const entry of [...this.#entries.values()]) {
      entry.cancelRetry();
      this.#send(entry);
    }
    if (this.#entries.size === 0) this.#linger();
  }

  #lost(link: Link, code: number, reason: string): void {
    if (link === this.#next) this.#next = undefined;
    else if (link === this.#link) this.#link = undefined;
    else return;
    this.#options.onClosed?.(code, reason);
    if (this.#closed || this.#next || this.#link?.welcomed) return;
    const {clock, random} = this.#options;
    if (link.welcomed && clock.now() - this.#welcomedAt >= goodMs) this.#attempts = 0;
    this.#attempts++;
    if (link.welcomed) this.#failures = 0;
    if (!link.welcomed && code === closeCodes.unauthorized) this.#failAll(unauthorized().status);
    else if (++this.#failures > maxFailures) this.#failAll(serviceUnavailable(`no connection: ${reason}`).status);
    // Who was told may have asked again at once.
    if (this.#entries.size === 0 || this.#next) return;
    const wait = Math.min(firstBackoffMs * 2 ** Math.min(this.#attempts - 1, 16), maxBackoffMs);
    this.#dialling = true;
    this.#cancelDial();
    this.#cancelDial = clock.after(wait * (0.5 + random() / 2), () => this.#dial());
  }

  #failAll(status: Status): void {
    this.#failures = 0;
    for (const entry of [...this.#entries.values()]) this.#fail(entry, status);
  }

  /** (Re)subscribes from where the entry stands. */
  #send(entry: Entry): void {
    const link = this.#link;
    if (!link || entry.closed) return;
    if (this.#entries.size > link.maxSubscriptions && [...this.#entries.keys()].indexOf(entry.id) >= link.maxSubscriptions) {
      this.#fail(entry, failure(429, 'TooManyRequests', `a connection carries at most ${link.maxSubscriptions} subscriptions`).status);
      return;
    }
    entry.topic = undefined;
    entry.waiting = [];
    entry.replays = 0;
    const {collection, labelSelector, fieldSelector, accept} = entry.selection;
    const text = JSON.stringify({
      action: 'subscribe',
      id: entry.id,
      collection,
      ...(labelSelector && {labelSelector}),
      ...(fieldSelector && {fieldSelector}),
      ...(accept && {accept}),
      resourceVersion: String(entry.position),
    });
    if (text.length * 3 > maxMessageBytes && Buffer.byteLength(text) > maxMessageBytes) {
      this.#fail(entry, failure(413, 'RequestEntityTooLarge', 'the selectors are too long for one message').status);
      return;
    }
    link.pending.add(entry.id);
    link.send(text);
    entry.cancelTimer();
    entry.cancelTimer = this.#options.clock.after(subscribePatienceMs, () => {
      if (this.#link === link && entry.topic === undefined) this.#send(entry);
    });
  }

  #take(link: Link, message: ServerMessage): void {
    switch (message.action) {
      case 'subscribed': {
        const entry = this.#entries.get(message.id);
        link.pending.delete(message.id);
        if (!entry || entry.topic !== undefined) return;
        entry.cancelTimer();
        entry.topic = message.topic;
        if (!entry.started) {
          entry.started = true;
          entry.listener.started?.();
        }
        for (const early of link.claim(message.topic)) this.#arrive(entry, early);
        return;
      }
      case 'events': {
        for (const entry of [...this.#entries.values()]) if (entry.topic === message.topic) this.#arrive(entry, message);
        // The push may overtake the answer that names its topic.
        link.keep(message);
        return;
      }
      case 'pong':
        for (const [id, progress] of Object.entries(message.progress)) this.#progress(id, progress);
        return;
      case 'error': {
        if (message.id === undefined) return;
        link.pending.delete(message.id);
        const entry = this.#entries.get(message.id);
        if (!entry) return;
        if (isFinal(message.status)) this.#fail(entry, message.status);
        else this.#retry(entry, message.status);
      }
    }
  }

  #arrive(entry: Entry, message: EventsMessage): void {
    if (entry.closed || message.to <= entry.position) return;
    if (message.from > entry.position) {
      if (entry.waiting.length >= maxWaitingFrames) return;
      entry.waiting.push(message);
      if (entry.waiting.length === 1 && entry.replays === 0) this.#askLater(entry, gapPatienceMs);
      return;
    }
    this.#deliver(entry, message);
    if (entry.waiting.length === 0) return;
    entry.waiting.sort((a, b) => a.from - b.from);
    while (!entry.closed && entry.waiting.length > 0 && entry.waiting[0]!.from <= entry.position) {
      const next = entry.waiting.shift()!;
      if (next.to > entry.position) this.#deliver(entry, next);
    }
    if (entry.waiting.length === 0) {
      entry.cancelTimer();
      entry.replays = 0;
    }
  }

  #deliver(entry: Entry, {events, to}: EventsMessage): void {
    const {position} = entry;
    const fresh = events.length > 0 && events[0]!.revision <= position ? events.filter(({revision}) => revision > position) : events;
    entry.position = to;
    if (fresh.length > 0) entry.listener.events(fresh);
    else entry.listener.progress?.(to);
  }

  #progress(id: string, [last, through]: Progress): void {
    const entry = this.#entries.get(id);
    if (!entry || entry.topic === undefined) return;
    if (last > entry.position) {
      if (entry.waiting.length === 0 && entry.replays === 0) this.#askLater(entry, gapPatienceMs);
    } else if (through > entry.position && entry.waiting.length === 0) {
      entry.position = through;
      entry.listener.progress?.(through);
    }
  }

  /** Asks for what is missing, unless it comes by itself before. */
  #askLater(entry: Entry, ms: number): void {
    const link = this.#link;
    const {position} = entry;
    entry.cancelTimer();
    entry.cancelTimer = this.#options.clock.after(ms, () => {
      if (entry.closed || this.#link !== link || !link) return;
      if (entry.position > position && entry.waiting.length === 0) {
        entry.replays = 0;
        return;
      }
      if (entry.position > position) entry.replays = 0;
      if (++entry.replays > maxReplays) {
        link.end(closeCodes.goingAway, 'replays bring nothing');
        return;
      }
      link.send(JSON.stringify({action: 'replay', id: entry.id, from: String(entry.position)}));
      this.#askLater(entry, replayPatienceMs);
    });
  }

  #retry(entry: Entry, {details}: Status): void {
    const {clock, random} = this.#options;
    const wait = Math.max(1, Math.min(details?.retryAfterSeconds ?? 1, 30)) * 1_000;
    entry.topic = undefined;
    entry.cancelTimer();
    entry.cancelRetry();
    entry.cancelRetry = clock.after(wait * (0.5 + random()), () => this.#send(entry));
  }

  #fail(entry: Entry, status: Status): void {
    this.#forget(entry);
    entry.listener.failed(status);
  }

  #remove(entry: Entry): void {
    if (entry.closed) return;
    this.#forget(entry);
    if (this.#link?.welcomed) this.#link.send(JSON.stringify({action: 'unsubscribe', id: entry.id}));
  }

  #forget(entry: Entry): void {
    entry.closed = true;
    entry.waiting = [];
    entry.cancelTimer();
    entry.cancelRetry();
    this.#link?.pending.delete(entry.id);
    this.#entries.delete(entry.id);
    if (this.#entries.size === 0 && !this.#closed) this.#linger();
  }

  #linger(): void {
    this.#cancelLinger();
    this.#cancelLinger = this.#options.clock.after(lingerMs, () => {
      if (this.#entries.size > 0) return;
      this.#cancelDial();
      this.#dialling = false;
      this.#next?.end(closeCodes.done);
      this.#link?.end(closeCodes.done);
      this.#next = undefined;
      this.#link = undefined;
      this.#attempts = 0;
    });
  }
}
