/** An API server over HTTP that remembers objects, for tests: it can go and come back, forget its history, refuse, and take its time. */
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {connect} from '../../shared/client/node/connect.ts';
import {ManualClock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import type {ApiClient} from './client.ts';

interface Event {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  path: string;
  object: KubeObject;
}

interface Watch {
  matches(path: string, object: KubeObject): boolean;
  response: ServerResponse;
}

export interface Refused {
  code: number;
  reason: string;
}

// biome-ignore lint/suspicious/noExplicitAny: any document
type Document = any;

export class FakeApi {
  readonly objects = new Map<string, KubeObject>();
  /** `PATCH /api/v1/nodes/n/status`, without queries. Watches begin with `WATCH`. */
  requests: string[] = [];
  bodies: Document[] = [];
  /** What is to be refused; and whoever is let through waits for `gate`. */
  refuse: (request: string) => Refused | undefined = () => undefined;
  gate: Promise<void> = Promise.resolve();
  #history: Event[] = [];
  #forgotten = 0;
  #revision = 1;
  #server: Server | undefined;
  #port = 0;
  readonly #watches = new Set<Watch>();

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Again: at the same address. */
  async start(): Promise<this> {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    await new Promise<void>((done) => this.#server!.listen(this.#port, '127.0.0.1', done));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#watches.clear();
    await new Promise<void>((done) => {
      server?.close(() => done());
      server?.closeAllConnections();
    });
  }

  client(clock: ManualClock): Promise<ApiClient> {
    const credentials = {server: this.url, namespace: 'default', present: async () => ({authorization: 'Bearer t'})};
    return connect({credentials, clock, random: () => 0.5});
  }

  /** As somebody else: without a request. */
  put(path: string, object: Document): KubeObject {
    const old = this.objects.get(path);
    const metadata = {uid: old?.metadata.uid ?? `uid-${this.#revision}`, ...object.metadata, resourceVersion: String(++this.#revision)};
    const stored = {...object, metadata} as KubeObject;
    this.objects.set(path, stored);
    this.#tell({type: old ? 'MODIFIED' : 'ADDED', path, object: stored});
    return stored;
  }

  remove(path: string): void {
    const old = this.objects.get(path);
    if (!old) return;
    this.objects.delete(path);
    this.#tell({type: 'DELETED', path, object: {...old, metadata: {...old.metadata, resourceVersion: String(++this.#revision)}}});
  }

  /** Nobody can go on from before; whoever watches is sent away. */
  forget(): void {
    this.#history = [];
    this.#forgotten = this.#revision;
    this.endWatches();
  }

  endWatches(): void {
    for (const {response} of this.#watches) response.end();
    this.#watches.clear();
  }

  get watching(): number {
    return this.#watches.size;
  }

  count(request: string | RegExp): number {
    return this.requests.filter((made) => (typeof request === 'string' ? made === request : request.test(made))).length;
  }

  #tell(event: Event): void {
    this.#history.push(event);
    for (const watch of this.#watches)
      if (watch.matches(event.path, event.object)) watch.response.write(`${JSON.stringify({type: event.type, object: event.object})}\n`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    const {pathname, searchParams} = new URL(request.url!, this.url);
    const isWatch = searchParams.get('watch') !== null;
    const made = `${isWatch ? 'WATCH' : request.method} ${pathname}`;
    this.requests.push(made);
    this.bodies.push(body);
    const refused = this.refuse(made);
    if (refused) return fail(response, refused.code, refused.reason);
    await this.gate;
    if (isWatch) return this.#watch(pathname, searchParams, response);
    const [path = '', subresource] = pathname.split(/\/(status)$/);
    const old = this.objects.get(path);
    const answer = (object: unknown, code = 200): void => void response.writeHead(code).end(JSON.stringify(object));
    switch (request.method) {
      case 'GET':
        if (/s$/.test(path) && !old) return answer(this.#list(path, searchParams));
        return old ? answer(old) : fail(response, 404, 'NotFound');
      case 'POST': {
        const name = `${path}/${body.metadata.name}`;
        return this.objects.has(name) ? fail(response, 409, 'AlreadyExists') : answer(this.put(name, body), 201);
      }
      case 'PUT':
        if (!old) return fail(response, 404, 'NotFound');
        if (body.metadata.resourceVersion !== old.metadata.resourceVersion) return fail(response, 409, 'Conflict');
        return answer(this.put(path, body));
      case 'PATCH': {
        if (!old) return fail(response, 404, 'NotFound');
        if (body.metadata?.uid && body.metadata.uid !== old.metadata.uid) return fail(response, 409, 'Conflict');
        return answer(this.put(path, merge(old, subresource ? {status: body.status} : body)));
      }
      default:
        if (!old) return fail(response, 404, 'NotFound');
        if (body?.preconditions?.uid && body.preconditions.uid !== old.metadata.uid) return fail(response, 409, 'Conflict');
        this.remove(path);
        return answer(old);
    }
  }

  #list(path: string, query: URLSearchParams): object {
    const matches = matcher(path, query);
    const items = [...this.objects].filter(([at, object]) => matches(at, object)).map(([, object]) => object);
    return {kind: `${items[0]?.kind ?? ''}List`, apiVersion: 'v1', metadata: {resourceVersion: String(this.#revision)}, items};
  }

  #watch(path: string, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion'));
    response.writeHead(200).flushHeaders();
    if (from < this.#forgotten) {
      const status = {kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old resource version'};
      return void response.end(`${JSON.stringify({type: 'ERROR', object: status})}\n`);
    }
    const watch = {matches: matcher(path, query), response};
    for (const {type, path: at, object} of this.#history)
      if (Number(object.metadata.resourceVersion) > from && watch.matches(at, object))
        response.write(`${JSON.stringify({type, object})}\n`);
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
  }
}

function fail(response: ServerResponse, code: number, reason: string): void {
  response.writeHead(code).end(JSON.stringify({kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason}));
}

/** A collection of all namespaces has those of each. */
function matcher(path: string, query: URLSearchParams): (at: string, object: KubeObject) => boolean {
  const [, root, resource] = /^(.*)\/([a-z]+)$/.exec(path)!;
  const [field = '', value = ''] = (query.get('fieldSelector') ?? '').split('=');
  return (at, object) => {
    const folder = at.slice(0, at.lastIndexOf('/'));
    if (folder !== path && !(folder.startsWith(`${root}/namespaces/`) && folder.endsWith(`/${resource}`))) return false;
    // biome-ignore lint/suspicious/noExplicitAny: a path into any object
    return field === '' || field.split('.').reduce<any>((part, key) => part?.[key], object) === value;
  };
}

function merge(old: Document, patch: Document): Document {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch))
    return Array.isArray(patch) ? patch.filter((item) => !item?.$patch) : patch;
  const result = {...old};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merge(old?.[key] ?? {}, value);
  }
  return result;
}

/** Moves a clock while sockets do their work, until something holds. */
export async function passTime(clock: ManualClock, condition: () => boolean, stepMs = 100): Promise<void> {
  while (!condition()) {
    clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** What is under way, through: several turns of sockets, while no time passes. */
export async function quiet(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
}

export async function fakeApi(): Promise<{api: FakeApi; clock: ManualClock; client: ApiClient}> {
  const clock = new ManualClock();
  const api = await new FakeApi().start();
  return {api, clock, client: await api.client(clock)};
}
