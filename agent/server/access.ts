/**
 * Who asks, and whether they may: a client certificate, a bearer token that the API server knows, or nobody; then everybody may, or whom the
 * API server lets. Answers are kept for a while.
 */
import {createHash} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import type {TLSSocket} from 'node:tls';
import type {Clock} from '../../shared/clock.ts';
import type {ApiClient} from '../api/client.ts';

export interface Caller {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

export interface AccessOptions {
  client: ApiClient | undefined;
  clock: Clock;
  node: string;
  anonymous: boolean;
  tokens: boolean;
  tokenTtlMs: number;
  mode: 'AlwaysAllow' | 'Webhook';
  allowedTtlMs: number;
  deniedTtlMs: number;
}

export type Verdict = {status: 200; user: Caller} | {status: 401 | 403 | 500; text: string};

const nobody: Caller = {name: 'system:anonymous', groups: ['system:unauthenticated']};
const maxKept = 4096;
const verbs: Readonly<Record<string, string>> = {POST: 'create', GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete'};

interface Kept<T> {
  value: T;
  since: number;
  until: number;
}

export class Access {
  readonly #options: AccessOptions;
  readonly #callers = new Map<string, Kept<Caller | undefined>>();
  readonly #answers = new Map<string, Kept<boolean>>();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  async check(request: IncomingMessage, path: string): Promise<Verdict> {
    let user: Caller | undefined;
    try {
      user = await this.#caller(request);
    } catch {
      // Who cannot be asked about is nobody that we know.
      user = undefined;
    }
    if (!user) return {status: 401, text: 'Unauthorized'};
    if (this.#options.mode === 'AlwaysAllow') return {status: 200, user};
    const verb = verbs[request.method ?? ''] ?? '';
    const [subresource, finer] = subresourcesOf(path);
    try {
      if (await this.#allows(user, verb, subresource)) return {status: 200, user};
      if (finer && (await this.#allows(user, verb, finer))) return {status: 200, user};
    } catch (error) {
      return {
        status: 500,
        text: `Authorization error (user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource}): ${(error as Error).message}`,
      };
    }
    return {status: 403, text: `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource})`};
  }

  async #caller(request: IncomingMessage): Promise<Caller | undefined> {
    const {anonymous, tokens} = this.#options;
    const byCertificate = fromCertificate(request.socket as TLSSocket);
    if (byCertificate) return byCertificate;
    const token = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    // A token that is wrong is not nobody's.
    if (token && tokens) return this.#byToken(token);
    return anonymous ? nobody : undefined;
  }

  async #byToken(token: string): Promise<Caller | undefined> {
    const {client, clock, tokenTtlMs} = this.#options;
    const key = createHash('sha256').update(token).digest('base64');
    const kept = valid(this.#callers.get(key), clock);
    if (kept) return kept.value;
    if (!client) return undefined;
    const {status} = await client.request<{
      status: {authenticated?: boolean; user?: {username: string; uid?: string; groups?: string[]; extra?: Record<string, string[]>}};
    }>('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: {kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: {token}},
      priority: 'high',
    });
    const {user} = status;
    const value =
      status.authenticated && user
        ? {name: user.username, groups: user.groups ?? [], ...(user.uid && {uid: user.uid}), ...(user.extra && {extra: user.extra})}
        : undefined;
    keep(this.#callers, key, {value, since: clock.now(), until: clock.now() + tokenTtlMs});
    return value;
  }

  async #allows(user: Caller, verb: string, subresource: string): Promise<boolean> {
    const {client, clock, node, allowedTtlMs, deniedTtlMs} = this.#options;
    const key = JSON.stringify([user, verb, subresource]);
    const kept = valid(this.#answers.get(key), clock);
    if (kept) return kept.value;
    if (!client) return false;
    const {status} = await client.request<{status: {allowed?: boolean}}>('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      body: {
        kind: 'SubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        spec: {
          user: user.name,
          groups: user.groups,
          ...(user.uid && {uid: user.uid}),
          ...(user.extra && {extra: user.extra}),
          resourceAttributes: {verb, version: 'v1', resource: 'nodes', subresource, name: node},
        },
      },
      priority: 'high',
    });
    const value = status.allowed === true;
    keep(this.#answers, key, {value, since: clock.now(), until: clock.now() + (value ? allowedTtlMs : deniedTtlMs)});
    return value;
  }
}

function keep<T>(map: Map<string, Kept<T>>, key: string, entry: Kept<T>): void {
  if (map.size >= maxKept) map.delete(map.keys().next().value!);
  map.set(key, entry);
}

/** A clock that was set back makes nothing live longer. */
const valid = <T>(kept: Kept<T> | undefined, clock: Clock): Kept<T> | undefined =>
  kept && kept.since <= clock.now() && clock.now() < kept.until ? kept : undefined;

function fromCertificate(socket: TLSSocket): Caller | undefined {
  if (!socket.authorized || typeof socket.getPeerCertificate !== 'function') return undefined;
  const {subject} = socket.getPeerCertificate();
  if (!subject?.CN) return undefined;
  const groups = subject.O as unknown as string | string[] | undefined;
  return {name: subject.CN as string, groups: [...(groups === undefined ? [] : [groups].flat()), 'system:authenticated']};
}

/** What is asked of the node, by its first word: everything that is not named here is the node's `proxy`, some of it a part of that by itself. */
function subresourcesOf(path: string): [subresource: string, finer?: string] {
  const word = path.split('/').find(Boolean) ?? '';
  if (Object.hasOwn(subresources, word)) return [subresources[word]!];
  return Object.hasOwn(partsOfProxy, word) ? ['proxy', partsOfProxy[word]!] : ['proxy'];
}

const subresources: Readonly<Record<string, string>> = {stats: 'stats', metrics: 'metrics', logs: 'log', spec: 'spec'};
const partsOfProxy: Readonly<Record<string, string>> = {pods: 'pods', runningpods: 'pods', healthz: 'healthz', configz: 'configz'};
