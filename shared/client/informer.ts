/**
 * A collection kept in memory as the server has it: a list, then every event since. Disconnects, watches that end, and versions that are
 * forgotten (410) are its own affair; handlers hear of each object's changes in order, and what was missed meanwhile as one change.
 */
import type {Clock} from '../clock.ts';
import {type Status, StatusError} from '../errors.ts';
import type {KubeObject} from '../object.ts';
import type {Client, ListResult} from './client.ts';
import type {WatchSource, WatchTarget} from './watches.ts';

export interface InformerHandlers<T extends KubeObject> {
  added?(object: T): void;
  updated?(object: T, old: T): void;
  /** Its last state that is known. */
  deleted?(object: T): void;
  /** A list is in memory, and what it changed has been told. */
  listed?(): void;
  /** A list or watch failed; it goes on by itself. */
  failed?(error: unknown): void;
}

export interface InformerOptions<T extends KubeObject> extends WatchTarget {
  client: Pick<Client, 'list'>;
  watches: WatchSource;
  handlers?: InformerHandlers<T>;
  /** What is kept of an object, and told: without what nobody here reads. Its metadata must name it, with uid and resourceVersion. */
  keep?: (object: T) => T;
  /** Tells `updated` of every object this often, changed or not. Never by default. */
  resyncMs?: number;
  clock: Clock;
  random: () => number;
}

const firstBackoffMs = 200;
const maxBackoffMs = 30_000;
/** A watch that lived this long was a good one. */
const goodMs = 10_000;
/** Where one may list and not watch: how often the list is asked for, and how long until watching is tried again. */
const pollMs = 5_000;
const refusedMs = 60_000;
/** What another attempt would meet again: no rights, no such verb, nothing that can be framed. */
const isRefused = ({code}: Status): boolean => [400, 403, 405, 406, 413, 422].includes(code);

export class Informer<T extends KubeObject = KubeObject> {
  readonly #options: InformerOptions<T>;
  readonly #objects = new Map<string, T>();
  #resourceVersion: string | undefined;
  #attempts = 0;
  #pollUntil = 0;
  #cancel = (): void => {};
  #waiting: (() => void) | undefined;
  #cancelResync = (): void => {};
  #state: 'new' | 'running' | 'closed' = 'new';
  #resolveSynced!: () => void;
  /** Resolves when the first list is in memory. */
  readonly synced: Promise<void>;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  /** Idempotent. */
  start(): this {
    if (this.#state !== 'new') return this;
    this.#state = 'running';
    void this.#list();
    this.#resyncLater();
    return this;
  }

  /** By `namespace/name`, or by name for cluster-scoped types. */
  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Everything up to here is in memory; undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** The server has been heard again by other means: what waits to try again need not. */
  hurry(): void {
    const work = this.#waiting;
    if (!work || this.#state === 'closed') return;
    this.#cancel();
    this.#waiting = undefined;
    work();
  }

  close(): void {
    this.#state = 'closed';
    this.#cancel();
    this.#cancelResync();
  }

  async #list(): Promise<void> {
    const {client, path, labelSelector, fieldSelector, clock} = this.#options;
    try {
      const query = {...(labelSelector && {labelSelector}), ...(fieldSelector && {fieldSelector})};
      const list = await client.list<T>(path, query);
      if (this.#state === 'closed') return;
      this.#replace(named(list));
      this.#resourceVersion = list.metadata.resourceVersion;
      this.#tell(() => this.#options.handlers?.listed?.());
      this.#resolveSynced();
      if (clock.now() < this.#pollUntil) this.#poll();
      else this.#watch();
    } catch (error) {
      this.#failed(error);
      this.#later(() => void this.#list());
    }
  }

  #watch(): void {
    const {watches, path, labelSelector, fieldSelector, clock} = this.#options;
    const begun = clock.now();
    const target = {path, ...(labelSelector && {labelSelector}), ...(fieldSelector && {fieldSelector})};
    let over = false;
    const cancel = watches.watch<T>(target, this.#resourceVersion!, {
      event: (type, object) => {
        if (!over) this.#take(type, object);
      },
      bookmark: (resourceVersion) => {
        if (!over) this.#resourceVersion = resourceVersion;
      },
      ended: (status) => {
        if (over || this.#state === 'closed') return;
        over = true;
        if (clock.now() - begun >= goodMs) this.#attempts = 0;
        if (status) this.#failed(new StatusError(status));
        this.#goOn(status);
      },
    });
    this.#cancel = () => {
      over = true;
      cancel();
    };
  }

  #goOn(status: Status | undefined): void {
    if (status?.code === 410) {
      // Not at once over and over: what forgets that fast will forget again.
      if (this.#attempts === 0) {
        this.#attempts = 1;
        void this.#list();
      } else this.#later(() => void this.#list());
    } else if (status && isRefused(status)) {
      this.#pollUntil = this.#options.clock.now() + refusedMs;
      this.#poll();
    } else this.#later(() => this.#watch());
  }

  #poll(): void {
    const {clock, random} = this.#options;
    this.#attempts = 0;
    this.#cancel = clock.after(pollMs * (0.9 + random() / 5), () => void this.#list());
  }

  #take(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    const version = object.metadata.resourceVersion;
    if (version !== undefined) this.#resourceVersion = version;
    if (type === 'DELETED') {
      this.#objects.delete(key);
      if (old) this.#tell(() => this.#options.handlers?.deleted?.(this.#kept(object)));
      return;
    }
    this.#put(key, this.#kept(object), old);
  }

  #put(key: string, object: T, old: T | undefined): void {
    const {handlers} = this.#options;
    this.#objects.set(key, object);
    if (!old) this.#tell(() => handlers?.added?.(object));
    else if (old.metadata.uid !== object.metadata.uid) {
      // One went and another came by the same name, unseen.
      this.#tell(() => handlers?.deleted?.(old));
      this.#tell(() => handlers?.added?.(object));
    } else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) this.#tell(() => handlers?.updated?.(object, old));
  }

  #replace(items: readonly T[]): void {
    const listed = new Set(items.map(keyOf));
    for (const [key, old] of [...this.#objects]) {
      if (listed.has(key)) continue;
      this.#objects.delete(key);
      this.#tell(() => this.#options.handlers?.deleted?.(old));
    }
    for (const object of items) this.#put(keyOf(object), this.#kept(object), this.#objects.get(keyOf(object)));
  }

  #kept(object: T): T {
    return this.#options.keep?.(object) ?? object;
  }

  /** What a handler throws is its owner's affair, and must not cost others their events. */
  #tell(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    try {
      this.#options.handlers?.failed?.(error);
    } catch {
      // Nobody is left to tell.
    }
  }

  #later(work: () => void): void {
    if (this.#state === 'closed') return;
    const {clock, random} = this.#options;
    const wait = Math.min(firstBackoffMs * 2 ** Math.min(this.#attempts, 16), maxBackoffMs);
    this.#attempts++;
    this.#waiting = work;
    this.#cancel = clock.after(wait * (0.5 + random() / 2), () => {
      this.#waiting = undefined;
      work();
    });
  }

  #resyncLater(): void {
    const {resyncMs, clock, handlers} = this.#options;
    if (!resyncMs) return;
    this.#cancelResync = clock.after(resyncMs, () => {
      for (const object of this.#objects.values()) this.#tell(() => handlers?.updated?.(object, object));
      this.#resyncLater();
    });
  }
}

/** Items of a list do not say what they are; objects of events do. */
function named<T extends KubeObject>({items, ...list}: ListResult<T>): T[] {
  const {kind = '', apiVersion = ''} = list as Partial<KubeObject>;
  return kind === 'List' ? items : items.map((item) => ({...{kind: kind.replace(/List$/, ''), apiVersion}, ...item}));
}

const keyOf = ({metadata: {namespace, name = ''}}: KubeObject): string => (namespace ? `${namespace}/${name}` : name);
