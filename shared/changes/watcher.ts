/**
 * One watch as a sequence of pieces: the state at the start if asked for, then every later change that concerns it, bookmarks in
 * between, until its time is up or the client is gone.
 *
 * Live events are written in the turn in which the store tells of them. While the client has enough they queue, up to a bound; a
 * watch that would pass it leaves live delivery and loses nothing: it goes back to pulling the log from where its queue ended.
 *
 * Which bytes an event is, is the encoder's affair (registry/watch.ts).
 */
import type {Clock} from '../clock.ts';
import type {PushBody, PushSink, PushSource} from '../http/messages.ts';
import {bookmarkIntervalMs, watchBufferBytes} from '../limits.ts';
import type {Change, Revision, Store, Stored, StoreError} from '../storage/contract.ts';
import {FeedEvent, type Hub, type LiveWatcher} from './hub.ts';
import {onAbort} from './on-abort.ts';
import {pushBody} from './push.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface WatchEncoder {
  /** Bytes of an event; `event` caches them for other watchers of the same form. */
  event(type: EventType, event: FeedEvent): Uint8Array;
  /** Bytes of a synthetic ADDED of an object as it stands. */
  initial(item: Stored): Uint8Array;
  /** Bytes of a synthetic MODIFIED of one that differs now from what is stored. */
  refreshed(item: Stored): Uint8Array;
  bookmark(revision: Revision, initialEventsEnd: boolean): Uint8Array;
  /** Bytes of the ERROR event that tells the client why the watch ends. */
  error(error: unknown): Uint8Array;
}

/** Objects that change without being written: told again in a rhythm. */
export interface RefreshOptions {
  everyMs: number;
  /** Those that have something new to tell. */
  items(): Promise<readonly Stored[]>;
}

export interface WatchOptions {
  store: Store;
  hub: Hub;
  clock: Clock;
  encoder: WatchEncoder;
  /** `namespace/` or empty. */
  prefix: string;
  /** Whether an image is wanted, by its key and index; undefined when every one of the prefix is. */
  matches?: (item: {key: string; index: Stored['index']}) => boolean;
  /** Changes after this are delivered. */
  from: Revision;
  /** Sent first as ADDED, the state at `from`. */
  initial?: readonly Stored[];
  /** Close the initial state with a marked bookmark. */
  initialEventsEnd?: boolean;
  bookmarks: boolean;
  refresh?: RefreshOptions;
  /** The watch ends by itself after this long. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Ends the watch cleanly, as a timeout would (the server drains). */
  drain?: AbortSignal | undefined;
  onClose?: () => void;
  /** A consumer fell behind and went back to the log. */
  onReplay?: () => void;
}

const pageSize = 500;
/** Frames are joined to pieces of about this size while catching up: fewer, larger writes. */
const pieceBytes = 64 * 1024;
/** A last bookmark leaves this long before the watch ends, so that the client resumes from close to the head. */
const lastBookmarkMs = 2_000;

export function watchStream({initial, ...options}: WatchOptions): PushBody {
  // A watch may last for hours: once the state at its start is sent, it must not be held any longer.
  let state = initial;
  return pushBody((sink) => {
    const watcher = new Watcher(options, sink);
    // Not in this turn: who subscribes must have the source in hand when the first piece comes.
    queueMicrotask(() => {
      void watcher.run(state);
      state = undefined;
    });
    return watcher;
  });
}

/** How a change looks from behind the selectors; undefined when it does not concern who looks. */
export function eventTypeOf(change: Change, {prefix, matches}: Pick<WatchOptions, 'prefix' | 'matches'>): EventType | undefined {
  if (prefix && !change.key.startsWith(prefix)) return undefined;
  if (!matches) return change.operation === 'create' ? 'ADDED' : change.operation === 'delete' ? 'DELETED' : 'MODIFIED';
  const before = change.previousIndex !== undefined && matches({key: change.key, index: change.previousIndex});
  if (change.operation === 'delete') return before || matches(change) ? 'DELETED' : undefined;
  const after = matches(change);
  if (after) return before ? 'MODIFIED' : 'ADDED';
  return before ? 'DELETED' : undefined;
}

class Watcher implements LiveWatcher, PushSource {
  readonly #options: Omit<WatchOptions, 'initial'>;
  readonly #sink: PushSink;
  readonly #cancels: (() => void)[] = [];
  /** Changes up to here have been put into the queue or the sink, or did not concern it. */
  #position: Revision;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  /** The sink has enough for now. */
  #blocked = false;
  #resume: (() => void) | undefined;
  /** In the hub's hands. Otherwise the past is on its way, or the sink is blocked and will be sent it when it drains. */
  #live = false;
  #pulling = false;
  #done = false;
  #bookmarkDue = false;

  constructor(options: Omit<WatchOptions, 'initial'>, sink: PushSink) {
    this.#options = options;
    this.#sink = sink;
    this.#position = options.from;
    const {clock, timeoutMs, bookmarks, signal, drain} = options;
    this.#cancels.push(clock.after(timeoutMs, () => this.#finish()));
    if (bookmarks) this.#scheduleBookmarks();
    if (options.refresh) this.#scheduleRefresh(options.refresh);
    if (signal) this.#cancels.push(onAbort(signal, () => this.close()));
    if (drain) this.#cancels.push(onAbort(drain, () => this.#finish()));
  }

  /** Sends the past, and goes live. Never throws: what breaks a watch is told to its client. */
  async run(initial?: readonly Stored[]): Promise<void> {
    this.#pulling = true;
    try {
      await this.#sendInitial(initial);
      await this.#pull();
    } catch (error) {
      this.#finish(error);
    }
    this.#pulling = false;
  }

  offer(events: readonly FeedEvent[]): void {
    try {
      // Nearly always: one change, and a client that keeps up. What all watchers do for each event must be little.
      if (events.length === 1 && !this.#blocked && this.#queue.length === 0) this.#pass(events[0]!);
      else if (events.every((event) => this.#take(event))) this.#flush();
      else this.#fallBehind();
    } catch (error) {
      // Whatever is wrong with this one's events, the other watchers shall have theirs.
      this.#finish(error);
    }
  }

  ended(error: StoreError): void {
    this.#live = false;
    this.#finish(error);
  }

  drained(): void {
    this.#blocked = false;
    const resume = this.#resume;
    this.#resume = undefined;
    if (resume) {
      resume();
      return;
    }
    this.#flush();
    if (this.#blocked || this.#done) return;
    if (this.#bookmarkDue) void this.#bookmark();
    if (!this.#live && !this.#pulling) void this.run();
  }

  /** The client is gone: nothing of what is queued matters any more. */
  close(): void {
    this.#queue = [];
    this.#finish();
  }

  async #sendInitial(initial: readonly Stored[] | undefined): Promise<void> {
    const {initialEventsEnd, encoder, from} = this.#options;
    if (!initial) return;
    await this.#sendAll(initial, (item) => encoder.initial(item));
    if (initialEventsEnd) await this.#send(encoder.bookmark(from, true));
  }

  /** Pulls the log until live delivery can take over. @throws what the watch is to end with */
  async #pull(): Promise<void> {
    const {store, hub, encoder} = this.#options;
    while (!this.#done) {
      const through = await hub.through();
      if (this.#done) return;
      if (hub.join(this, this.#position)) {
        this.#live = true;
        if (this.#bookmarkDue) void this.#bookmark();
        return;
      }
      const page: Change[] = await store.log(hub.type, this.#position, through, pageSize);
      const frames: Uint8Array[] = [];
      for (const change of page) {
        const type = this.#concerns(change);
        if (type) frames.push(encoder.event(type, new FeedEvent(change)));
      }
      this.#position = page.length < pageSize ? through : page[page.length - 1]!.revision;
      await this.#sendAll(frames, (frame) => frame);
    }
  }

  #pass(event: FeedEvent): void {
    const type = this.#concerns(event.change);
    if (type) this.#blocked = !this.#sink.write(this.#options.encoder.event(type, event));
    if (event.change.revision > this.#position) this.#position = event.change.revision;
  }

  /** Queues what concerns this watch; false when there is no room, and then it counts as not seen. */
  #take(event: FeedEvent): boolean {
    const type = this.#concerns(event.change);
    if (type) {
      const frame = this.#options.encoder.event(type, event);
      if (this.#blocked && this.#queuedBytes > 0 && this.#queuedBytes + frame.length > watchBufferBytes) return false;
      this.#queue.push(frame);
      this.#queuedBytes += frame.length;
    }
    if (event.change.revision > this.#position) this.#position = event.change.revision;
    return true;
  }

  #fallBehind(): void {
    this.#live = false;
    this.#options.hub.leave(this);
    this.#options.onReplay?.();
  }

  #concerns(change: Change): EventType | undefined {
    return change.revision <= this.#position ? undefined : eventTypeOf(change, this.#options);
  }

  async #sendAll<T>(items: readonly T[], encode: (item: T) => Uint8Array): Promise<void> {
    for (const piece of joined(items, encode)) {
      if (this.#done) return;
      await this.#send(piece);
    }
  }

  /** Writes a piece of the past, and waits until the sink wants more. */
  async #send(piece: Uint8Array): Promise<void> {
    if (this.#done || this.#sink.write(piece)) return;
    this.#blocked = true;
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
  }

  #flush(): void {
    if (this.#blocked || this.#queue.length === 0) return;
    const frames = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#blocked = !this.#sink.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }

  #scheduleBookmarks(): void {
    const {clock, timeoutMs} = this.#options;
    const due = () => {
      this.#bookmarkDue = true;
      if (this.#live) void this.#bookmark();
    };
    const at = this.#cancels.length;
    const repeat = () => {
      due();
      this.#cancels[at] = clock.after(bookmarkIntervalMs, repeat);
    };
    this.#cancels.push(clock.after(bookmarkIntervalMs, repeat));
    if (timeoutMs > lastBookmarkMs) this.#cancels.push(clock.after(timeoutMs - lastBookmarkMs, due));
  }

  async #bookmark(): Promise<void> {
    const {hub, encoder} = this.#options;
    const reached = await hub.reached();
    // What was committed up to there has been offered by now, and goes out first.
    this.#flush();
    if (!this.#live || this.#blocked || this.#done || !this.#bookmarkDue) return;
    this.#bookmarkDue = false;
    this.#blocked = !this.#sink.write(encoder.bookmark(Math.max(this.#position, reached), false));
  }

  #scheduleRefresh({everyMs, items}: RefreshOptions): void {
    const {clock, bookmarks, encoder} = this.#options;
    const at = this.#cancels.length;
    const refresh = async (): Promise<void> => {
      // What cannot be asked now is asked next time; who looks at it sees no renewal, as with a node that cannot be asked.
      const found = this.#live && !this.#blocked ? await items().catch(() => []) : [];
      if (found.length > 0 && this.#live && !this.#blocked && !this.#done) {
        this.#flush();
        this.#blocked = !this.#sink.write(Buffer.concat(found.map((item) => encoder.refreshed(item))));
        // They carry the version at which they were written: who goes on from the last one that it saw would go back.
        this.#bookmarkDue ||= bookmarks;
        if (this.#bookmarkDue) void this.#bookmark();
      }
      if (!this.#done) this.#cancels[at] = clock.after(everyMs, () => void refresh());
    };
    this.#cancels.push(clock.after(everyMs, () => void refresh()));
  }

  /** Ends the stream, with an ERROR event when there is an error to tell. */
  #finish(error?: unknown): void {
    if (this.#done) return;
    this.#done = true;
    const {hub, encoder, onClose} = this.#options;
    for (const cancel of this.#cancels) cancel();
    hub.leave(this);
    this.#blocked = false;
    this.#flush();
    if (error !== undefined) this.#sink.write(encoder.error(error));
    this.#sink.end();
    this.#resume?.();
    onClose?.();
  }
}

function* joined<T>(items: readonly T[], encode: (item: T) => Uint8Array): Generator<Uint8Array> {
  let frames: Uint8Array[] = [];
  let bytes = 0;
  for (const item of items) {
    const frame = encode(item);
    frames.push(frame);
    bytes += frame.length;
    if (bytes < pieceBytes) continue;
    yield Buffer.concat(frames);
    frames = [];
    bytes = 0;
  }
  if (frames.length > 0) yield frames.length === 1 ? frames[0]! : Buffer.concat(frames);
}
