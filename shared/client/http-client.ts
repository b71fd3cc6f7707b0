/** The client interface over HTTP: any Kubernetes server. Tries again what the server says to try again, and reads that got no answer. */
import type {Clock} from '../clock.ts';
import {failure, type Status, StatusError} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import type {ListResult, ResourcePath} from './client.ts';
import {type Connection, collect, type Reply} from './connection.ts';
import {pathOf} from './paths.ts';
import {json, RequestingClient} from './requests.ts';

export interface HttpClientOptions {
  connection: Connection;
  userAgent?: string;
  clock: Clock;
  random: () => number;
  /** How long the server may be silent, where a request says nothing else. */
  timeoutMs?: number;
  /** Asked before each request but the free ones: resolves when it may go. */
  pace?: (priority: Priority, signal?: AbortSignal) => Promise<void>;
}

/** Who goes first where requests wait for each other. */
export type Priority = 'high' | 'normal' | 'low';

export interface RequestOptions {
  query?: Record<string, string>;
  body?: unknown;
  contentType?: string;
  accept?: string;
  /** `free` waits for nobody. */
  priority?: Priority | 'free';
  /** How long the server may be silent. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/** With a Retry-After of a second each this is the patience of client-go. */
const maxAttempts = 10;
/** Reads that got no answer at all. */
const maxLostReads = 3;
const longestWaitMs = 30_000;

export class HttpClient extends RequestingClient {
  readonly connection: Connection;
  readonly #options: HttpClientOptions;

  constructor(options: HttpClientOptions) {
    super();
    this.connection = options.connection;
    this.#options = options;
  }

  /** All of it, in chunks where it is long and no `limit` says otherwise. */
  override async list<T extends KubeObject>(
    path: ResourcePath,
    query: Record<string, string> = {},
    options: Pick<RequestOptions, 'priority' | 'signal'> = {},
  ): Promise<ListResult<T>> {
    const ask = (words: Record<string, string>) => this.request<ListResult<T>>('GET', pathOf(path), {...options, query: words});
    if (query['limit'] !== undefined) return ask(query);
    let page = await ask({...query, limit: String(pageSize)});
    const items = page.items ?? [];
    while (page.metadata.continue) {
      page = await ask({...selectorsOf(query), limit: String(pageSize), continue: page.metadata.continue});
      items.push(...(page.items ?? []));
    }
    const {resourceVersion} = page.metadata;
    return {...page, metadata: {resourceVersion}, items};
  }

  close(): void {
    this.connection.close();
  }

  /** Any request of the server, by its path. @throws StatusError for 400 and above, and what the connection says when no answer came */
  async request<T = unknown>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const {query = {}, body, contentType = json, accept = json, priority = 'normal', timeoutMs = this.#options.timeoutMs, signal} = options;
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {...this.#headers(accept), ...(payload && {'content-type': contentType, 'content-length': String(payload.length)})};
    const request = {method, path: withQuery(path, query), headers, body: payload, timeoutMs, signal};
    let lost = 0;
    for (let attempt = 1; ; attempt++) {
      if (priority !== 'free') await this.#options.pace?.(priority, signal);
      let reply: Reply;
      try {
        reply = await this.connection.send(request);
        if (reply.status < 400) return parsed<T>(await collect(reply));
      } catch (error) {
        // A write whose answer was lost may have happened: whoever asked for it must look.
        if (method !== 'GET' || signal?.aborted || ++lost >= maxLostReads) throw error;
        await this.#pause(200 * lost);
        continue;
      }
      const error = await errorOf(reply);
      const retryAfter = reply.headers['retry-after'];
      const comeAgain = retryAfter !== undefined && (reply.status === 429 || reply.status >= 500);
      if (!comeAgain || attempt >= maxAttempts) throw error;
      await this.#pause(Math.min(Number(retryAfter) * 1_000 || 1_000, longestWaitMs));
      signal?.throwIfAborted();
    }
  }

  /** Any document of the server, by its path with its query. @throws StatusError */
  read<T>(path: string, accept = json): Promise<T> {
    return this.request('GET', path, {accept});
  }

  /** An answer as it comes, for whoever reads it in pieces. @throws StatusError for 400 and above */
  async stream(path: string, query: Record<string, string>, signal?: AbortSignal): Promise<Reply> {
    const reply = await this.connection.send({
      method: 'GET',
      path: withQuery(path, query),
      headers: this.#headers(),
      signal,
      endless: true,
    });
    if (reply.status >= 400) throw await errorOf(reply);
    return reply;
  }

  protected send<T>(method: string, path: string, query: Record<string, string> = {}, body?: unknown, contentType = json): Promise<T> {
    return this.request(method, path, {query, body, contentType});
  }

  #headers(accept = json): Record<string, string> {
    return {accept, 'user-agent': this.#options.userAgent ?? 'clusterless'};
  }

  #pause(ms: number): Promise<void> {
    const {clock, random} = this.#options;
    return new Promise((resolve) => void clock.after(ms * (0.75 + random() / 2), resolve));
  }
}

const parsed = <T>(bytes: Uint8Array): T =>
  (bytes.length > 0 ? JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) : undefined) as T;

/** As client-go asks for them. */
const pageSize = 500;

const selectorsOf = ({labelSelector, fieldSelector}: Record<string, string>): Record<string, string> => ({
  ...(labelSelector !== undefined && {labelSelector}),
  ...(fieldSelector !== undefined && {fieldSelector}),
});

const withQuery = (path: string, query: Record<string, string>): string => {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
};

/** The Status of an answer, or one made of what a proxy said instead. */
async function errorOf(reply: Reply): Promise<StatusError> {
  const text = Buffer.from(await collect(reply)).toString();
  try {
    const object = JSON.parse(text) as Status;
    if (object.kind === 'Status') return new StatusError(object);
  } catch {
    // Not every proxy answers in JSON.
  }
  return failure(reply.status, '', `the server answered ${reply.status}: ${text.slice(0, 200).trim()}`);
}
