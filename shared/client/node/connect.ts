/** A client of any Kubernetes server, from a kubeconfig or from within a pod: requests, and watches by the best way there is. */
import {WatchClient} from '../../changes/protocol/client.ts';
import {closeCodes, subprotocol} from '../../changes/protocol/messages.ts';
import type {Clock} from '../../clock.ts';
import {StatusError} from '../../errors.ts';
import type {KubeObject} from '../../object.ts';
import type {Client} from '../client.ts';
import {collect, type Reply} from '../connection.ts';
import {HttpClient, type HttpClientOptions, type Priority, type RequestOptions} from '../http-client.ts';
import {Informer, type InformerOptions} from '../informer.ts';
import {BestWatches, HttpWatches, SocketWatches, type WatchListener, type WatchSource, type WatchTarget} from '../watches.ts';
import {type CredentialOptions, type Credentials, loadCredentials} from './credentials.ts';
import {dial, socketUrl} from './dial.ts';
import {HttpConnection} from './http-connection.ts';

export interface ConnectOptions extends CredentialOptions {
  /** Instead of a kubeconfig. */
  credentials?: Credentials;
  userAgent?: string;
  /** `http`: never a WebSocket. Default `auto`. */
  watches?: 'auto' | 'http';
  timeoutMs?: HttpClientOptions['timeoutMs'];
  pace?: HttpClientOptions['pace'];
  clock?: Clock;
  random?: () => number;
}

export interface InformerChoices<T extends KubeObject> extends Pick<InformerOptions<T>, 'handlers' | 'resyncMs' | 'keep'> {
  /** Of its lists. */
  priority?: Priority;
}

export interface KubeClient extends HttpClient {
  /** The namespace of the context, or the pod's own. */
  readonly namespace: string;
  /** Who this client is: for other connections of the same program. */
  readonly credentials: Credentials;
  watch<T extends KubeObject = KubeObject>(target: WatchTarget, from: string, listener: WatchListener<T>): () => void;
  /** Starts at once; `synced` resolves when the first list is there. */
  informer<T extends KubeObject = KubeObject>(target: WatchTarget, options?: InformerChoices<T>): Informer<T>;
}

/** A program that waits to try again is not done: unlike a server's, these timers keep the process up until `close`. */
export const clientClock: Clock = {
  now: Date.now,
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 0x7fffffff));
    return () => clearTimeout(timer);
  },
};

/** @throws CredentialsError */
export async function connect(options: ConnectOptions = {}): Promise<KubeClient> {
  return new NodeClient(options.credentials ?? (await loadCredentials(options)), options);
}

/** What comes and goes must not set everybody off each time. */
const hurryEveryMs = 5_000;

class NodeClient extends HttpClient implements KubeClient {
  readonly namespace: string;
  readonly credentials: Credentials;
  readonly #common: {clock: Clock; random: () => number};
  readonly #watches: WatchSource;
  readonly #informers = new Set<Informer>();
  /** A request got no answer, and none has since. */
  #isLost = false;
  #hurriedAt = Number.NEGATIVE_INFINITY;

  constructor(credentials: Credentials, options: ConnectOptions) {
    const {userAgent, watches = 'auto', timeoutMs, pace, clock = clientClock, random = Math.random} = options;
    const common = {clock, random};
    super({
      connection: new HttpConnection(credentials),
      ...common,
      ...(userAgent && {userAgent}),
      ...(timeoutMs && {timeoutMs}),
      ...(pace && {pace}),
    });
    this.#common = common;
    this.namespace = credentials.namespace;
    this.credentials = credentials;
    const http = new HttpWatches(this, random, clock);
    const find = async (): Promise<WatchSource | undefined> => {
      const found = await findWatchSocket(this, credentials, common);
      return found && new SocketWatches(found.client);
    };
    this.#watches = watches === 'http' ? http : new BestWatches(http, find, clock);
  }

  watch<T extends KubeObject>(target: WatchTarget, from: string, listener: WatchListener<T>): () => void {
    return this.#watches.watch(target, from, listener);
  }

  informer<T extends KubeObject>(target: WatchTarget, {priority = 'normal', ...options}: InformerChoices<T> = {}): Informer<T> {
    const list: Client['list'] = (path, query) => this.list(path, query, {priority});
    const informer = new Informer<T>({...target, ...options, client: {list}, watches: this.#watches, ...this.#common}).start();
    for (const each of this.#informers) if (each.isClosed) this.#informers.delete(each);
    this.#informers.add(informer as unknown as Informer);
    return informer;
  }

  override request<T = unknown>(method: string, path: string, options?: RequestOptions): Promise<T> {
    return this.#noting(super.request<T>(method, path, options), options?.signal);
  }

  override stream(path: string, query: Record<string, string>, signal?: AbortSignal): Promise<Reply> {
    return this.#noting(super.stream(path, query, signal), signal);
  }

  async #noting<T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      const given = await answer;
      this.#heard();
      return given;
    } catch (error) {
      if (!(error instanceof StatusError) && !signal?.aborted) this.#isLost = true;
      throw error;
    }
  }

  /** Where the server is back, whoever waits hears of it from whoever found out first. */
  #heard(): void {
    const now = this.#common.clock.now();
    if (!this.#isLost || now - this.#hurriedAt < hurryEveryMs) return;
    this.#isLost = false;
    this.#hurriedAt = now;
    for (const informer of this.#informers) informer.hurry();
  }

  override close(): void {
    this.#watches.close();
    super.close();
  }
}

export interface WatchSocket {
  client: WatchClient;
  url: string;
  /** On another host than the API: in front of that stands a gateway. */
  elsewhere: boolean;
}

/** Undefined where the server does not offer the watch protocol. @throws Error when it cannot be asked */
export async function findWatchSocket(
  client: HttpClient,
  credentials: Credentials,
  common: {clock: Clock; random: () => number} = {clock: clientClock, random: Math.random},
): Promise<WatchSocket | undefined> {
  // Who speaks for others must do so with each request: a connection is of one user.
  if ((await credentials.present()).headers) return undefined;
  const reply = await client.connection.send({method: 'GET', path: '/version'});
  const offered = reply.headers['watch-socket'];
  await collect(reply);
  const [address, protocol] = (typeof offered === 'string' ? offered : '').split(' ');
  if (!address || protocol !== subprotocol) return undefined;
  const {url} = client.connection;
  const absolute = socketUrl(address, url);
  const watches = new WatchClient({
    dial: (events) => dial(absolute.href, credentials, events),
    token: async () => /^Bearer (.+)$/.exec((await credentials.present()).authorization ?? '')?.[1],
    onClosed: (code) => {
      if (code === closeCodes.unauthorized) void credentials.present(true).catch(() => {});
    },
    ...common,
  });
  return {client: watches, url: absolute.href, elsewhere: absolute.host !== new URL(url).host};
}
