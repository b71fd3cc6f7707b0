/**
 * One watch as a sequence of bytes: the state at the start if asked for, then every later change that concerns it, bookmarks in
 * between, until its time is up or the client is gone. Memory is bounded: a consumer that does not keep up loses its queue, not its
 * events: it goes back to pulling the log from where it was.
 *
 * Which bytes an event is, is the encoder's affair (registry/watch.ts).
 */
import type {Clock} from '../clock.ts';
import {bookmarkIntervalMs, watchBufferBytes} from '../limits.ts';
import {type Change, isStoreError, type Revision, type Store, type Stored, type StoreError} from '../storage/contract.ts';
import {FeedEvent, type Hub, type LiveWatcher} from './hub.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface WatchEncoder {
  /** Bytes of an event; `event` caches them for other watchers of the same form. */
  event(type: EventType, event: FeedEvent): Uint8Array;
  /** Bytes of a synthetic ADDED of an object as it stands. */
  initial(item: Stored): Uint8Array;
  bookmark(revision: Revision, initialEventsEnd: boolean): Uint8Array;
  /** Bytes of the ERROR event that tells the client why the watch ends. */
  error(error: unknown): Uint8Array;
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
/** Frames are joined to chunks of about this size while catching up: fewer, larger writes. */
const chunkBytes = 64 * 1024;
/** A last bookmark leaves this long before the watch ends, so that the client resumes from close to the head. */
const lastBookmarkMs = 2_000;

export function watchStream(options: WatchOptions): AsyncIterable<Uint8Array> {
  return {[Symbol.asyncIterator]: () => new Watcher(options).frames()};
}

class Watcher implements LiveWatcher {
  readonly #options: WatchOptions;
  /** Changes up to here have been put into the stream, or did not concern it. */
  #position: Revision;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #wake: (() => void) | undefined;
  #live = false;
  #done = false;
  #error: unknown;
  #bookmarkDue = false;
  #overflowed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#position = options.from;
  }

  offer(event: FeedEvent): void {
    const type = this.#concerns(event.change);
    if (!type) {
      if (event.change.revision > this.#position) this.#position = event.change.revision;
      return;
    }
    const frame = this.#options.encoder.event(type, event);
    if (this.#queuedBytes + frame.length > watchBufferBytes && this.#queue.length > 0) {
      this.#overflowed = true;
      this.#live = false;
      this.#options.hub.leave(this);
      this.#options.onReplay?.();
    } else {
      this.#queue.push(frame);
      this.#queuedBytes += frame.length;
      this.#position = event.change.revision;
    }
    this.#wake?.();
  }

  ended(error: StoreError): void {
    this.#error = error;
    this.#live = false;
    this.#wake?.();
  }

  async *frames(): AsyncGenerator<Uint8Array, void, undefined> {
    const {clock, hub, encoder, signal, drain} = this.#options;
    const end = () => {
      this.#done = true;
      this.#wake?.();
    };
    const cancels = [clock.after(this.#options.timeoutMs, end)];
    if (this.#options.bookmarks) this.#scheduleBookmarks(cancels);
    signal?.addEventListener('abort', end, {once: true});
    drain?.addEventListener('abort', end, {once: true});
    if (signal?.aborted || drain?.aborted) this.#done = true;
    try {
      yield* this.#initial();
      while (!this.#done) {
        if (!this.#live) {
          const caughtUp = yield* this.#catchUp();
          if (!caughtUp) return;
          continue;
        }
        if (this.#queue.length > 0) {
          yield this.#takeQueue();
          continue;
        }
        if (this.#bookmarkDue) {
          this.#bookmarkDue = false;
          const head = await this.#options.store.head(hub.type);
          // What was committed up to the head has been offered by now: send it before saying so.
          if (this.#queue.length > 0) yield this.#takeQueue();
          if (this.#live) yield encoder.bookmark(Math.max(this.#position, head), false);
          continue;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
      if (this.#queue.length > 0 && !signal?.aborted) yield this.#takeQueue();
    } finally {
      for (const cancel of cancels) cancel();
      signal?.removeEventListener('abort', end);
      drain?.removeEventListener('abort', end);
      hub.leave(this);
      this.#options.onClose?.();
    }
  }

  *#initial(): Generator<Uint8Array> {
    const {initial, initialEventsEnd, encoder} = this.#options;
    if (initial) yield* chunked(initial, (item) => encoder.initial(item));
    if (initialEventsEnd) yield encoder.bookmark(this.#options.from, true);
  }

  /** Pulls the log until live delivery can take over; false when the watch has ended with an error. */
  async *#catchUp(): AsyncGenerator<Uint8Array, boolean> {
    const {store, hub, encoder} = this.#options;
    if (this.#overflowed) {
      this.#overflowed = false;
      if (this.#queue.length > 0) yield this.#takeQueue();
    }
    for (;;) {
      if (this.#done) return true;
      if (this.#error) {
        yield encoder.error(this.#error);
        return false;
      }
      const through = await hub.through();
      if (hub.join(this, this.#position)) {
        this.#live = true;
        return true;
      }
      let page: Change[];
      try {
        page = await store.log(hub.type, this.#position, through, pageSize);
      } catch (error) {
        if (!isStoreError(error)) throw error;
        yield encoder.error(error);
        return false;
      }
      const frames: Uint8Array[] = [];
      for (const change of page) {
        const type = this.#concerns(change);
        if (type) frames.push(encoder.event(type, new FeedEvent(change)));
      }
      this.#position = page.length < pageSize ? through : page[page.length - 1]!.revision;
      yield* chunked(frames, (frame) => frame);
    }
  }

  /** How a change looks from behind the selectors; undefined when it does not concern this watch. */
  #concerns(change: Change): EventType | undefined {
    const {prefix, matches} = this.#options;
    if (change.revision <= this.#position) return undefined;
    if (prefix && !change.key.startsWith(prefix)) return undefined;
    if (!matches) return change.operation === 'create' ? 'ADDED' : change.operation === 'delete' ? 'DELETED' : 'MODIFIED';
    const before = change.previousIndex !== undefined && matches({key: change.key, index: change.previousIndex});
    if (change.operation === 'delete') return before || matches(change) ? 'DELETED' : undefined;
    const after = matches(change);
    if (after) return before ? 'MODIFIED' : 'ADDED';
    return before ? 'DELETED' : undefined;
  }

  #takeQueue(): Uint8Array {
    const frames = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    return frames.length === 1 ? frames[0]! : Buffer.concat(frames);
  }

  #scheduleBookmarks(cancels: (() => void)[]): void {
    const {clock, timeoutMs} = this.#options;
    const due = () => {
      this.#bookmarkDue = true;
      this.#wake?.();
    };
    const repeat = () => {
      due();
      cancels[1] = clock.after(bookmarkIntervalMs, repeat);
    };
    cancels[1] = clock.after(bookmarkIntervalMs, repeat);
    cancels[2] = timeoutMs > lastBookmarkMs ? clock.after(timeoutMs - lastBookmarkMs, due) : () => {};
  }
}

function* chunked<T>(items: readonly T[], encode: (item: T) => Uint8Array): Generator<Uint8Array> {
  let frames: Uint8Array[] = [];
  let bytes = 0;
  for (const item of items) {
    const frame = encode(item);
    frames.push(frame);
    bytes += frame.length;
    if (bytes < chunkBytes) continue;
    yield Buffer.concat(frames);
    frames = [];
    bytes = 0;
  }
  if (frames.length > 0) yield frames.length === 1 ? frames[0]! : Buffer.concat(frames);
}
