/**
 * Live delivery in a server that holds its connections: one listener at the hub for each topic, one framing of an event for all who
 * subscribed to it. The past is sent to each by itself, from the log.
 */
import {type Revision, StoreError} from '../../storage/contract.ts';
import {FeedEvent, type LiveWatcher} from '../hub.ts';
import type {Feed} from './feed.ts';
import {eventMessages, type Line} from './frames.ts';
import {maxReplayChanges} from './limits.ts';

export interface Receiver {
  send(message: Uint8Array): void;
  /** Resolves when there is room for more of the past; at once most of the time. */
  room(): Promise<void> | undefined;
  /** The topic ends, with every subscription to it. */
  ended(error: unknown): void;
  readonly closed: boolean;
}

const pageSize = 500;

export class Topics {
  readonly #topics = new Map<string, Topic>();

  of(feed: Feed): Topic {
    let topic = this.#topics.get(feed.topic);
    if (!topic) {
      const fresh = new Topic(feed, () => {
        if (this.#topics.get(feed.topic) === fresh) this.#topics.delete(feed.topic);
      });
      topic = fresh;
      this.#topics.set(feed.topic, fresh);
    }
    return topic;
  }

  get size(): number {
    return this.#topics.size;
  }
}

export class Topic implements LiveWatcher {
  readonly id: string;
  readonly #feed: Feed;
  readonly #abandoned: () => void;
  readonly #receivers = new Set<Receiver>();
  /** The revision last sent. */
  #last: Revision = 0;

  constructor(feed: Feed, abandoned: () => void) {
    this.id = feed.topic;
    this.#feed = feed;
    this.#abandoned = abandoned;
  }

  /** Sends what came after `from`, and then whatever comes. @throws StoreError Compacted, TooLarge */
  async follow(receiver: Receiver, from: Revision): Promise<void> {
    let position = from;
    let budget = maxReplayChanges;
    for (;;) {
      const through = await this.#feed.hub.through();
      if (receiver.closed) return this.#leaveIfUnused();
      if (this.#feed.hub.join(this, position)) {
        if (this.#receivers.size === 0) this.#last = Math.max(this.#last, position);
        this.#receivers.add(receiver);
        return;
      }
      budget -= await this.#replay(receiver, position, through);
      if (budget < 0) throw tooFarBehind();
      position = through;
    }
  }

  /** Sends once more what came after `from`, to somebody who follows. @throws as `follow` does */
  async repeat(receiver: Receiver, from: Revision): Promise<void> {
    const through = await this.#feed.hub.through();
    if (through > from) await this.#replay(receiver, from, through);
  }

  leave(receiver: Receiver): void {
    if (this.#receivers.delete(receiver)) this.#leaveIfUnused();
  }

  #leaveIfUnused(): void {
    if (this.#receivers.size > 0) return;
    this.#feed.hub.leave(this);
    this.#abandoned();
  }

  /** Asked before a pong: everything up to `through` has been sent by the time that this resolves. */
  async progress(): Promise<[last: Revision, through: Revision]> {
    const through = await this.#feed.hub.reached();
    return [this.#last, Math.max(this.#last, through)];
  }

  offer(events: readonly FeedEvent[]): void {
    let messages: Buffer[];
    try {
      const lines = this.#linesOf(events);
      if (lines.length === 0) return;
      const to = lines[lines.length - 1]!.revision;
      messages = eventMessages(this.id, this.#last, to, lines);
      this.#last = to;
    } catch (error) {
      // Whatever is wrong with an event here, the other topics shall have theirs.
      this.#feed.hub.leave(this);
      this.ended(error);
      return;
    }
    for (const receiver of this.#receivers) for (const message of messages) receiver.send(message);
  }

  ended(error: unknown): void {
    const receivers = [...this.#receivers];
    this.#receivers.clear();
    this.#abandoned();
    for (const receiver of receivers) receiver.ended(error);
  }

  /** Returns how many changes it looked at. */
  async #replay(receiver: Receiver, from: Revision, to: Revision): Promise<number> {
    let position = from;
    let seen = 0;
    while (position < to && !receiver.closed) {
      const page = await this.#feed.hub.past(position, to, pageSize);
      const through = page.length < pageSize ? to : page[page.length - 1]!.revision;
      seen += page.length;
      if (seen > maxReplayChanges) throw tooFarBehind();
      for (const message of eventMessages(this.id, position, through, this.#linesOf(page.map((change) => new FeedEvent(change))))) {
        await receiver.room();
        if (receiver.closed) return seen;
        receiver.send(message);
      }
      position = through;
    }
    return seen;
  }

  #linesOf(events: readonly FeedEvent[]): Line[] {
    const lines: Line[] = [];
    for (const event of events) {
      const bytes = this.#feed.line(event);
      if (bytes) lines.push({revision: event.change.revision, bytes});
    }
    return lines;
  }
}

const tooFarBehind = (): StoreError => new StoreError('Compacted', `more than ${maxReplayChanges} changes lie behind it; list again`);
