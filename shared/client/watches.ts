/** Where events come from: HTTP watches of any server, subscriptions on one WebSocket where the server offers it, or the better of the two. */
import type {ClientSubscription, WatchClient} from '../changes/protocol/client.ts';
import type {Clock} from '../clock.ts';
import {failure, type Status, StatusError} from '../errors.ts';
import {type KubeObject, parseGroupVersion} from '../object.ts';
import type {ResourcePath} from './client.ts';
import type {Reply} from './connection.ts';
import type {HttpClient} from './http-client.ts';
import {pathOf} from './paths.ts';

export interface WatchTarget {
  path: ResourcePath;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface WatchListener<T extends KubeObject = KubeObject> {
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Nothing else up to here. */
  bookmark(resourceVersion: string): void;
  /** Over. Without a status: go on from where you are. */
  ended(status?: Status): void;
}

/** The returned function ends it; the listener is not called any more. */
export interface WatchSource {
  watch<T extends KubeObject>(target: WatchTarget, from: string, listener: WatchListener<T>): () => void;
  close(): void;
}

/** Between five and ten minutes, as client-go's reflectors. */
const leastSeconds = 300;
/** A server that has not ended the watch by then is not there any more. */
const overdueMs = 30_000;
/** An event may be as long as an object and its frame. */
const maxLineBytes = 16 * 1024 * 1024;

export class HttpWatches implements WatchSource {
  readonly #client: HttpClient;
  readonly #random: () => number;
  readonly #clock: Clock;

  constructor(client: HttpClient, random: () => number, clock: Clock) {
    this.#client = client;
    this.#random = random;
    this.#clock = clock;
  }

  watch<T extends KubeObject>({path, labelSelector, fieldSelector}: WatchTarget, from: string, listener: WatchListener<T>): () => void {
    const controller = new AbortController();
    const {signal} = controller;
    const seconds = Math.floor(leastSeconds * (1 + this.#random()));
    const query = {
      watch: '1',
      allowWatchBookmarks: '1',
      resourceVersion: from,
      timeoutSeconds: String(seconds),
      ...(labelSelector && {labelSelector}),
      ...(fieldSelector && {fieldSelector}),
    };
    const run = async (): Promise<Status | undefined> => {
      const reply = await this.#client.stream(pathOf(path), query, signal);
      for await (const line of linesOf(reply)) {
        if (signal.aborted) return undefined;
        const {type, object} = JSON.parse(line) as {type: string; object: T};
        if (type === 'BOOKMARK') listener.bookmark(object.metadata.resourceVersion ?? from);
        else if (type === 'ERROR') {
          reply.discard();
          return object as unknown as Status;
        } else listener.event(type as 'ADDED', object);
      }
      return undefined;
    };
    const end = (status?: Status): void => {
      cancelOverdue();
      if (!signal.aborted) listener.ended(status);
    };
    const cancelOverdue = this.#clock.after(seconds * 1_000 + overdueMs, () => {
      controller.abort();
      listener.ended();
    });
    run().then(end, (error: unknown) => end(statusFor(error)));
    return () => {
      cancelOverdue();
      controller.abort();
    };
  }

  close(): void {}
}

function statusFor(error: unknown): Status {
  if (error instanceof StatusError) return error.status;
  const {code, message} = error as NodeJS.ErrnoException;
  return failure(503, 'ServiceUnavailable', code === 'ECONNRESET' ? 'the watch broke off' : message).status;
}

async function* linesOf({body}: Reply): AsyncGenerator<string> {
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      const line = Buffer.concat([...rest, chunk.subarray(start, end)]);
      rest = [];
      restBytes = 0;
      start = end + 1;
      if (line.length > 0) yield line.toString();
    }
    if (start === chunk.length) continue;
    rest.push(chunk.subarray(start));
    restBytes += chunk.length - start;
    if (restBytes > maxLineBytes) throw new Error('an event is longer than any object');
  }
}

/** Subscriptions on one connection. */
export class SocketWatches implements WatchSource {
  readonly #client: WatchClient;

  constructor(client: WatchClient) {
    this.#client = client;
  }

  watch<T extends KubeObject>(target: WatchTarget, from: string, listener: WatchListener<T>): () => void {
    const {path, labelSelector = '', fieldSelector = ''} = target;
    const {group, version} = parseGroupVersion(path.groupVersion) ?? {group: '', version: path.groupVersion};
    const collection = {group, version, resource: path.resource, namespace: path.namespace ?? ''};
    const selection = {collection, labelSelector, fieldSelector, accept: 'application/json'};
    const subscription: ClientSubscription = this.#client.subscribe(selection, Number(from), {
      events: (events) => {
        for (const {line} of events) {
          const {type, object} = JSON.parse(line) as {type: 'ADDED'; object: T};
          listener.event(type, object);
        }
      },
      progress: (through) => listener.bookmark(String(through)),
      failed: (status) => listener.ended(status),
    });
    return () => subscription.close();
  }

  close(): void {
    this.#client.close();
  }
}

/** How long HTTP is used after the WebSocket could not be. */
const detourMs = 300_000;
/** What says something about the connection, and nothing about the watch. */
const isDetour = ({code}: Status): boolean => code === 401 || code === 406 || code === 413 || code === 429 || code >= 500;

/** The WebSocket where the server offers one, else HTTP; HTTP for a while when the WebSocket fails. */
export class BestWatches implements WatchSource {
  readonly #http: WatchSource;
  readonly #find: () => Promise<WatchSource | undefined>;
  readonly #clock: Clock;
  #socket: Promise<WatchSource | undefined> | undefined;
  #httpUntil = 0;

  /** `find` is asked once, and again after it failed. */
  constructor(http: WatchSource, find: () => Promise<WatchSource | undefined>, clock: Clock) {
    this.#http = http;
    this.#find = find;
    this.#clock = clock;
  }

  watch<T extends KubeObject>(target: WatchTarget, from: string, listener: WatchListener<T>): () => void {
    let cancelled = false;
    let cancel = (): void => {
      cancelled = true;
    };
    const start = (source: WatchSource | undefined): void => {
      if (cancelled) return;
      if (!source || this.#clock.now() < this.#httpUntil) {
        cancel = this.#http.watch(target, from, listener);
        return;
      }
      cancel = source.watch(target, from, {
        ...bound(listener),
        ended: (status) => {
          if (!status || !isDetour(status)) return listener.ended(status);
          this.#httpUntil = this.#clock.now() + detourMs;
          // From where it is, which only its listener knows.
          listener.ended();
        },
      });
    };
    this.#socket ??= this.#find().catch(() => {
      this.#socket = undefined;
      return undefined;
    });
    void this.#socket.then(start);
    return () => cancel();
  }

  close(): void {
    this.#http.close();
    void this.#socket?.then((socket) => socket?.close());
  }
}

const bound = <T extends KubeObject>(listener: WatchListener<T>): WatchListener<T> => ({
  event: (type, object) => listener.event(type, object),
  bookmark: (resourceVersion) => listener.bookmark(resourceVersion),
  ended: (status) => listener.ended(status),
});
