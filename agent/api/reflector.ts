/**
 * A collection as it changes: one list, then a watch from there; again from the last version when the connection ends, from a new list when
 * that version is gone, and by polling when watches are refused. The listener gets each object's latest state, and what went away.
 */
import type {IncomingMessage} from 'node:http';
import {isReason, StatusError} from '../../shared/errors.ts';
import type {KubeObject} from '../../shared/object.ts';
import type {ApiClient} from './client.ts';

export interface Listener {
  /** Once after each list: what is not in it is gone. */
  replace(objects: KubeObject[]): void;
  changed(object: KubeObject): void;
  removed(object: KubeObject): void;
}

export interface ReflectorOptions {
  client: ApiClient;
  /** `/api/v1/pods` */
  path: string;
  query?: Readonly<Record<string, string>>;
  listener: Listener;
  onError?: (error: Error) => void;
}

const firstRetryMs = 200;
const longestRetryMs = 10_000;
const pollIntervalMs = 5_000;
/** The server ends a watch then; a connection that died silently is noticed a little later. */
const watchSeconds = 300;
const silenceSlackMs = 15_000;

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #stop = new AbortController();
  #version = '';
  #retryMs = firstRetryMs;

  constructor(options: ReflectorOptions) {
    this.#options = options;
  }

  start(): this {
    void this.#run();
    return this;
  }

  stop(): void {
    this.#stop.abort(new Error('stopped'));
  }

  async #run(): Promise<void> {
    let stale = true;
    while (!this.#stop.signal.aborted) {
      try {
        if (stale) await this.#list();
        stale = false;
        await this.#watch();
        this.#retryMs = firstRetryMs;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        const refused = isReason(error, 'MethodNotAllowed') || isReason(error, 'NotAcceptable');
        stale ||= refused || isExpired(error);
        if (!isExpired(error)) {
          this.#options.onError?.(error as Error);
          await this.#pause(refused ? pollIntervalMs : this.#retryMs);
          this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
        }
      }
    }
  }

  async #list(): Promise<void> {
    const {client, listener, path, query} = this.#options;
    const list = await client.request<{metadata: {resourceVersion: string}; items: KubeObject[]; kind?: string; apiVersion?: string}>(
      'GET',
      `${path}${queryOf({...query})}`,
      {priority: 'high', signal: this.#stop.signal},
    );
    this.#version = list.metadata.resourceVersion;
    listener.replace(list.items ?? []);
  }

  async #watch(): Promise<void> {
    const {client, path, query} = this.#options;
    const response = await client.stream(
      `${path}${queryOf({...query, watch: '1', allowWatchBookmarks: 'true', resourceVersion: this.#version, timeoutSeconds: String(watchSeconds)})}`,
      this.#stop.signal,
    );
    response.setTimeout(watchSeconds * 1000 + silenceSlackMs, () => response.destroy());
    for await (const line of lines(response)) {
      this.#take(JSON.parse(line));
      this.#retryMs = firstRetryMs;
    }
  }

  #take({type, object}: {type: string; object: KubeObject}): void {
    if (type === 'ERROR') throw new StatusError(object as never);
    this.#version = object.metadata.resourceVersion!;
    const {listener} = this.#options;
    if (type === 'DELETED') listener.removed(object);
    else if (type !== 'BOOKMARK') listener.changed(object);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms * (1 + Math.random() / 5));
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#stop.signal.addEventListener('abort', wake, {once: true});
    });
  }
}

const isExpired = (error: unknown): boolean => error instanceof StatusError && error.status.code === 410;

const queryOf = (query: Record<string, string>): string => {
  const text = new URLSearchParams(query).toString();
  return text && `?${text}`;
};

/** A watch that breaks off in the middle of a line has said nothing. */
async function* lines(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of response) {
      rest += chunk;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 1);
        if (line) yield line;
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
}
