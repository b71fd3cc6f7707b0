/** A client of any Kubernetes server, from a kubeconfig or from within a pod: requests, and watches by the best way there is. */
import {WatchClient} from '../../changes/protocol/client.ts';
import {subprotocol} from '../../changes/protocol/messages.ts';
import type {Clock} from '../../clock.ts';
import type {KubeObject} from '../../object.ts';
import {collect} from '../connection.ts';
import {HttpClient} from '../http-client.ts';
import {Informer, type InformerOptions} from '../informer.ts';
import {BestWatches, HttpWatches, SocketWatches, type WatchListener, type WatchSource, type WatchTarget} from '../watches.ts';
import {type CredentialOptions, type Credentials, loadCredentials} from './credentials.ts';
import {dial} from './dial.ts';
import {HttpConnection} from './http-connection.ts';

export interface ConnectOptions extends CredentialOptions {
  /** Instead of a kubeconfig. */
  credentials?: Credentials;
  userAgent?: string;
  /** `http`: never a WebSocket. Default `auto`. */
  watches?: 'auto' | 'http';
}

export interface KubeClient extends HttpClient {
  /** The namespace of the context, or the pod's own. */
  readonly namespace: string;
  watch<T extends KubeObject = KubeObject>(target: WatchTarget, from: string, listener: WatchListener<T>): () => void;
  /** Starts at once; `synced` resolves when the first list is there. */
  informer<T extends KubeObject = KubeObject>(
    target: WatchTarget,
    options?: Pick<InformerOptions<T>, 'handlers' | 'resyncMs'>,
  ): Informer<T>;
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

class NodeClient extends HttpClient implements KubeClient {
  readonly namespace: string;
  readonly #watches: WatchSource;

  constructor(credentials: Credentials, {userAgent, watches = 'auto'}: ConnectOptions) {
    const common = {clock: clientClock, random: Math.random};
    super({connection: new HttpConnection(credentials), ...common, ...(userAgent && {userAgent})});
    this.namespace = credentials.namespace;
    const http = new HttpWatches(this, Math.random);
    const find = async (): Promise<WatchSource | undefined> => {
      const found = await findWatchSocket(this, credentials);
      return found && new SocketWatches(found.client);
    };
    this.#watches = watches === 'http' ? http : new BestWatches(http, find, clientClock);
  }

  watch<T extends KubeObject>(target: WatchTarget, from: string, listener: WatchListener<T>): () => void {
    return this.#watches.watch(target, from, listener);
  }

  informer<T extends KubeObject>(target: WatchTarget, options: Pick<InformerOptions<T>, 'handlers' | 'resyncMs'> = {}): Informer<T> {
    return new Informer<T>({...target, ...options, client: this, watches: this.#watches, clock: clientClock, random: Math.random}).start();
  }

  override close(): void {
    this.#watches.close();
    super.close();
  }
}

export interface WatchSocket {
  client: WatchClient;
  /** On another host than the API: in front of that stands a gateway. */
  elsewhere: boolean;
}

/** Undefined where the server does not offer the watch protocol. @throws Error when it cannot be asked */
export async function findWatchSocket(client: HttpClient, credentials: Credentials): Promise<WatchSocket | undefined> {
  // Who speaks for others must do so with each request: a connection is of one user.
  if ((await credentials.present()).headers) return undefined;
  const reply = await client.connection.send({method: 'GET', path: '/version'});
  const offered = reply.headers['watch-socket'];
  await collect(reply);
  const [address, protocol] = (typeof offered === 'string' ? offered : '').split(' ');
  if (!address || protocol !== subprotocol) return undefined;
  const {url} = client.connection;
  const absolute = new URL(address.startsWith('/') ? `${url}${address}` : address);
  // Whatever the server says: a credential that was shown under TLS is not shown without.
  absolute.protocol = url.startsWith('https:') ? 'wss:' : absolute.protocol.replace('http', 'ws');
  const watches = new WatchClient({
    dial: (events) => dial(absolute.href, credentials, events),
    token: async () => /^Bearer (.+)$/.exec((await credentials.present()).authorization ?? '')?.[1],
    clock: clientClock,
    random: Math.random,
  });
  return {client: watches, elsewhere: absolute.host !== new URL(url).host};
}
