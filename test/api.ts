/** An API over an in-memory store for tests: requests as calls, a clock that the test moves, watches as lists of events. */

import {ManualClock} from '../shared/clock.ts';
import {type Api, type ApiOptions, createApi} from '../shared/create-api.ts';
import type {ApiRequest, ApiResponse} from '../shared/http/messages.ts';
import {openMemory} from '../shared/storage/embedded/open.ts';

export const admin = {name: 'admin', groups: ['system:masters', 'system:authenticated']};

export interface Answer {
  code: number;
  headers: ApiResponse['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answered
  body: any;
  text: string;
}

export interface WatchEvent {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sent
  object: any;
}

export class TestApi {
  readonly api: Api;
  readonly clock: ManualClock;

  constructor(api: Api, clock: ManualClock) {
    this.api = api;
    this.clock = clock;
  }

  static async start(options: Partial<ApiOptions> = {}): Promise<TestApi> {
    const clock = new ManualClock();
    const store = options.store ?? (await openMemory({clock}));
    const api = createApi({store, clock, user: admin, ...options});
    await api.start();
    return new TestApi(api, clock);
  }

  send(
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
    more: Partial<ApiRequest> = {},
  ): Promise<ApiResponse> {
    const at = url.indexOf('?');
    const query = at < 0 ? [] : [...new URLSearchParams(url.slice(at + 1))];
    const bytes =
      body === undefined
        ? undefined
        : body instanceof Uint8Array
          ? body
          : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    return this.api.handle({
      method,
      path: at < 0 ? url : url.slice(0, at),
      query,
      headers: {'user-agent': 'test', ...(bytes && {'content-type': 'application/json'}), ...headers},
      ...(bytes && {body: bytes}),
      ...more,
    });
  }

  async ask(
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
    more: Partial<ApiRequest> = {},
  ): Promise<Answer> {
    const response = await this.send(method, url, body, headers, more);
    const bytes = response.body instanceof Uint8Array ? response.body : new Uint8Array(0);
    const text = Buffer.from(bytes).toString();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return {code: response.status, headers: response.headers, body: json, text};
  }

  get = (url: string, headers?: Record<string, string>) => this.ask('GET', url, undefined, headers);
  post = (url: string, body: unknown, headers?: Record<string, string>) => this.ask('POST', url, body, headers);
  put = (url: string, body: unknown, headers?: Record<string, string>) => this.ask('PUT', url, body, headers);
  delete = (url: string, body?: unknown) => this.ask('DELETE', url, body);
  mergePatch = (url: string, body: unknown) => this.ask('PATCH', url, body, {'content-type': 'application/merge-patch+json'});

  /** Opens a watch; `next(n)` resolves with the next n events, `ended` when the server has ended it. */
  async watch(url: string, headers: Record<string, string> = {}): Promise<TestWatch> {
    const abort = new AbortController();
    const response = await this.send('GET', url, undefined, headers, {signal: abort.signal});
    if (response.body instanceof Uint8Array || response.body === undefined)
      throw new Error(`no watch: ${response.status} ${Buffer.from(response.body ?? []).toString()}`);
    return new TestWatch(response.body, abort);
  }

  close = () => this.api.close();
}

export class TestWatch {
  readonly events: WatchEvent[] = [];
  readonly ended: Promise<void>;
  #waiting: (() => void) | undefined;
  readonly #abort: AbortController;

  constructor(body: AsyncIterable<Uint8Array>, abort: AbortController) {
    this.#abort = abort;
    this.ended = this.#read(body);
  }

  /** The next `count` events that nobody took yet. */
  async next(count: number): Promise<WatchEvent[]> {
    while (this.events.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    return this.events.splice(0, count);
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    let rest = '';
    for await (const chunk of body) {
      rest += Buffer.from(chunk).toString();
      const lines = rest.split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.events.push(JSON.parse(line));
      this.#waiting?.();
    }
    this.#waiting?.();
  }
}

/** Resolves once `holds` does: lets everything that is due run, never waits for time. */
export async function until(holds: () => boolean | Promise<boolean>, turns = 2_000): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    if (await holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('it never came about');
}

export const configMap = (name: string, more: object = {}) => ({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name}, ...more});
export const configMaps = '/api/v1/namespaces/default/configmaps';
