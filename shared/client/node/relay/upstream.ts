/** A server as whoever serves it again knows it, for one user: the requests, the WebSocket for watches where there is one, and the road for upgrades. */
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {WatchClient} from '../../../changes/protocol/client.ts';
import {groupVersion} from '../../../object.ts';
import {HttpClient} from '../../http-client.ts';
import {clientClock, findWatchSocket, type WatchSocket} from '../connect.ts';
import type {Credentials} from '../credentials.ts';
import type {HttpConnection} from '../http-connection.ts';
import {carryWatch, type Named, type State} from './carried-watch.ts';
import {DirectRoad, forward, type UpgradeRoad} from './forward.ts';
import {type WatchRequest, watchRequest} from './watch-request.ts';

/** A server that could not be asked, or offered nothing, is asked again after this long. */
const lookAgainMs = 60_000;

/** A watch by the WebSocket where that can be, anything else as it is. @throws StatusError of the list that a watch begins with */
export async function relay(upstream: Upstream, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const passOn = (): void => void forward(upstream.connection, request, response);
  const wanted = watchRequest(request.method!, request.url!, request.headers);
  const client = wanted && (await upstream.socket())?.client;
  if (!wanted || !client) return passOn();
  await carryWatch({
    request: wanted,
    response,
    client,
    list: (watch) => upstream.list(watch),
    kind: () => upstream.kindOf(wanted),
    passOn,
    clock: clientClock,
  });
}

/** The server as the proxy knows it. */
export class Upstream {
  readonly connection: HttpConnection;
  readonly #credentials: Credentials;
  readonly #client: HttpClient;
  readonly #kinds = new Map<string, Promise<Named | undefined>>();
  #socket: Promise<WatchSocket | undefined> | undefined;
  #current: WatchClient | undefined;
  #lookAt = 0;

  constructor(connection: HttpConnection, credentials: Credentials) {
    this.connection = connection;
    this.#credentials = credentials;
    this.#client = new HttpClient({connection, clock: clientClock, random: Math.random, userAgent: 'clusterless-proxy'});
  }

  get carried(): number {
    return this.#current?.size ?? 0;
  }

  /** Where the server offers it. */
  socket(): Promise<WatchSocket | undefined> {
    if (!this.#socket && Date.now() >= this.#lookAt) {
      this.#lookAt = Date.now() + lookAgainMs;
      this.#socket = findWatchSocket(this.#client, this.#credentials).then(
        (found) => {
          this.#current = found?.client;
          if (!found) this.#socket = undefined;
          return found;
        },
        () => {
          this.#socket = undefined;
          this.#lookAt = 0;
          return undefined;
        },
      );
    }
    return this.#socket ?? Promise.resolve(undefined);
  }

  /** A server whose WebSocket is elsewhere has a gateway in front that carries requests and nothing else. */
  async road(): Promise<UpgradeRoad> {
    const found = await this.socket();
    if (!found?.elsewhere) return new DirectRoad(this.#credentials);
    const {TunnelRoad} = await import('./tunnel-road.ts');
    return new TunnelRoad(found.url, this.#credentials, clientClock);
  }

  /** The state that a watch begins with, in the form that its events have. @throws StatusError */
  async list({path, selection, options, representation, withState}: WatchRequest): Promise<State> {
    const {labelSelector, fieldSelector} = selection;
    const {resourceVersion, resourceVersionMatch} = options;
    const query = new URLSearchParams({
      ...(labelSelector && {labelSelector}),
      ...(fieldSelector && {fieldSelector}),
      ...(withState && resourceVersion && resourceVersion !== '0' && {resourceVersion}),
      ...(withState && resourceVersion && resourceVersion !== '0' && resourceVersionMatch && {resourceVersionMatch}),
      // Only the version is wanted.
      ...(!withState && {limit: '1'}),
    });
    const {as} = representation;
    const accept = as ? `application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=${as.version}` : 'application/json';
    const list = await this.#client.read<{
      kind: string;
      apiVersion: string;
      metadata: {resourceVersion: string};
      items: {kind?: string}[] | null;
    }>(`${path}?${query}`, accept);
    const named = {kind: list.kind.replace(/List$/, ''), apiVersion: list.apiVersion};
    const items = (withState ? (list.items ?? []) : []).map((item) => ({...named, ...item}));
    return {resourceVersion: list.metadata.resourceVersion, items};
  }

  /** By discovery, once for each group and version. */
  kindOf({selection, representation: {as}}: WatchRequest): Promise<Named | undefined> {
    if (as) return Promise.resolve({kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${as.version}`});
    const {group, version, resource} = selection.collection;
    const apiVersion = groupVersion({group, version});
    const key = `${apiVersion} ${resource}`;
    let known = this.#kinds.get(key);
    if (!known) {
      known = this.#client
        .read<{resources: {name: string; kind: string}[]}>(group ? `/apis/${apiVersion}` : `/api/${apiVersion}`)
        .then(({resources}) => {
          const kind = resources.find(({name}) => name === resource)?.kind;
          if (kind === undefined) this.#kinds.delete(key);
          return kind === undefined ? undefined : {kind, apiVersion};
        });
      known.catch(() => this.#kinds.delete(key));
      this.#kinds.set(key, known);
    }
    return known;
  }

  close(): void {
    void this.#socket?.then((found) => found?.client.close());
    this.connection.close();
  }
}
