/** An HTTP watch whose events come over the WebSocket: what an unmodified client sees is what the server itself would have sent. */
import type {ServerResponse} from 'node:http';
import type {ClientSubscription, WatchClient} from '../../../changes/protocol/client.ts';
import type {WireEvent} from '../../../changes/protocol/messages.ts';
import type {Clock} from '../../../clock.ts';
import type {Status} from '../../../errors.ts';
import {minWatchTimeoutMs, watchBufferBytes} from '../../../limits.ts';
import type {WatchRequest} from './watch-request.ts';

/** The state that a watch begins with. */
export interface State {
  resourceVersion: string;
  /** Each with its kind and apiVersion. */
  items: readonly object[];
}

export interface Named {
  kind: string;
  apiVersion: string;
}

export interface CarriedOptions {
  request: WatchRequest;
  response: ServerResponse;
  client: WatchClient;
  /** Asked for watches that begin with the state, or with now. @throws StatusError */
  list(request: WatchRequest): Promise<State>;
  /** What bookmarks name. */
  kind(): Promise<Named | undefined>;
  /** Answers it the other way, as long as nothing has been sent. */
  passOn(): void;
  clock: Clock;
}

/** What says something about the connection and nothing about the watch: the other way may work. */
const isDetour = ({code}: Status): boolean => code === 401 || code === 406 || code === 413 || code === 429 || code >= 500;

const endOfState = {annotations: {'k8s.io/initial-events-end': 'true'}};

export async function carryWatch(options: CarriedOptions): Promise<void> {
  const {request, list, kind} = options;
  // Both before anything is sent: behind the state its mark must follow at once, ahead of all events.
  const [state, named] = await Promise.all([
    request.withState || request.from === 0 ? list(request) : undefined,
    request.options.allowWatchBookmarks ? kind() : undefined,
  ]);
  if (!options.response.destroyed) new Carried(options, state, named);
}

class Carried {
  readonly #options: CarriedOptions;
  readonly #subscription: ClientSubscription;
  #state: State | undefined;
  #headSent = false;
  #done = false;
  #sentVersion: number;
  #firstRow = true;
  readonly #kind: Named | undefined;
  #cancelTimeout = (): void => {};

  constructor(options: CarriedOptions, state: State | undefined, kind: Named | undefined) {
    this.#options = options;
    this.#state = state;
    this.#kind = kind;
    const {request, response, client} = options;
    this.#sentVersion = state ? Number(state.resourceVersion) : request.from;
    response.once('close', () => this.#finish());
    this.#subscription = client.subscribe(request.selection, this.#sentVersion, {
      started: () => this.#begin(),
      events: (events) => this.#write(events),
      progress: (through) => this.#bookmark(through),
      failed: (status) => this.#failed(status),
    });
  }

  #begin(): void {
    const {request, response, clock} = this.#options;
    if (this.#done) return;
    this.#headSent = true;
    response.writeHead(200, {'cache-control': 'no-cache, private', 'content-type': request.representation.contentType});
    response.flushHeaders();
    const {timeoutSeconds = 0} = request.options;
    const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1_000 : minWatchTimeoutMs * (1 + Math.random());
    this.#cancelTimeout = clock.after(timeoutMs, () => {
      this.#bookmark(this.#subscription.position);
      response.end();
    });
    if (request.withState && this.#state) {
      const lines = this.#state.items.map((object) => `{"type":"ADDED","object":${JSON.stringify(object)}}\n`);
      response.write(lines.join(''));
    }
    if (request.options.sendInitialEvents && this.#state) this.#mark(this.#state.resourceVersion, endOfState);
    this.#state = undefined;
  }

  #write(events: readonly WireEvent[]): void {
    const {response, request} = this.#options;
    const isTable = request.representation.as?.kind === 'Table';
    let text = '';
    for (const {line} of events) text += isTable ? this.#row(line) : `${line}\n`;
    this.#sentVersion = events[events.length - 1]!.revision;
    response.write(text);
    // A client that does not read: it goes on elsewhere from where it is.
    if (response.writableLength > watchBufferBytes) response.destroy();
  }

  /** Only the first table of a watch names its columns. */
  #row(line: string): string {
    if (this.#firstRow) {
      this.#firstRow = false;
      return `${line}\n`;
    }
    const event = JSON.parse(line) as {object: {columnDefinitions: unknown}};
    event.object.columnDefinitions = null;
    return `${JSON.stringify(event)}\n`;
  }

  #bookmark(through: number): void {
    if (through <= this.#sentVersion || !this.#headSent) return;
    this.#sentVersion = through;
    this.#mark(String(through));
  }

  #mark(resourceVersion: string, more: object = {}): void {
    const {response, request} = this.#options;
    // A table without rows would be taken for a change.
    if (!this.#kind || this.#done || request.representation.as?.kind === 'Table') return;
    const object = {...this.#kind, metadata: {resourceVersion, ...more}};
    response.write(`{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`);
  }

  #failed(status: Status): void {
    const {response, passOn} = this.#options;
    if (this.#done) return;
    this.#done = true;
    this.#cancelTimeout();
    if (this.#headSent) {
      // What ails the connection is no news about the watch: its client comes again and is carried another way.
      if (!isDetour(status)) response.write(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`);
      response.end();
    } else if (isDetour(status)) passOn();
    else if (status.code === 410) {
      // The server says this in an event as well.
      response.writeHead(200, {'content-type': 'application/json'});
      response.end(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`);
    } else {
      response.writeHead(status.code, {'content-type': 'application/json'});
      response.end(`${JSON.stringify(status)}\n`);
    }
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    this.#cancelTimeout();
    this.#subscription.close();
  }
}
