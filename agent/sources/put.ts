/**
 * Pods from manifests that were put here over HTTP (put-route.ts), each under a name: kept as files, so that a restart keeps them, and read as
 * those of the other sources are.
 */
import {mkdir, open, readdir, readFile, rename, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../shared/clock.ts';
import type {Log} from '../pods/context.ts';
import type {Pod} from '../pods/pod.ts';
import {maxPutBytes, maxPutManifests, maxPutTotalBytes} from './limits.ts';

export interface PutSourceOptions {
  /** Where manifests are kept; nobody else writes there. */
  folder: string;
  node: string;
  clock: Clock;
  deliver(pods: Pod[]): void;
  /** Which other source has a pod of this name. */
  taken(key: string): string | undefined;
  log: Log;
}

export interface Entry {
  name: string;
  text: Buffer;
  pods: Pod[];
}

/** Why a manifest was not taken. */
export class PutError extends Error {
  readonly reason: 'invalid' | 'conflict' | 'full';

  constructor(reason: PutError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

const goodName = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const suffix = '.manifest';
const keyOf = ({metadata}: Pod): string => `${metadata.namespace}/${metadata.name}`;

export class PutSource {
  readonly #options: PutSourceOptions;
  readonly #entries = new Map<string, Entry>();
  /** Writes go one after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: PutSourceOptions) {
    this.#options = options;
  }

  /** What was put before. A file that this version cannot read is said, kept, and passed over. */
  start(): Promise<void> {
    return this.#next(() => this.#readAll());
  }

  async #readAll(): Promise<void> {
    const {folder, log} = this.#options;
    const files = await readdir(folder).catch(() => [] as string[]);
    for (const file of files.sort()) {
      const path = join(folder, file);
      if (!file.endsWith(suffix)) {
        // Half of a write that a crash has ended.
        await rm(path, {force: true, recursive: true});
        continue;
      }
      const name = file.slice(0, -suffix.length);
      try {
        const text = await readFile(path);
        this.#entries.set(name, {name, text, pods: await this.#read(name, text)});
      } catch (error) {
        log.error(`cannot read pod manifest ${path}`, error);
      }
    }
    this.#deliver();
  }

  list(): Entry[] {
    return [...this.#entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  /** On disk before it is answered. @throws PutError */
  put(name: string, text: Buffer): Promise<{entry: Entry; created: boolean}> {
    return this.#next(async () => {
      if (!goodName.test(name))
        throw new PutError(
          'invalid',
          `${JSON.stringify(name)} is no name of a manifest: lower case letters, digits, '-' and '.', at most 63`,
        );
      if (text.length > maxPutBytes) throw new PutError('invalid', `manifest is longer than ${maxPutBytes} bytes`);
      const before = this.#entries.get(name);
      if (!before && this.#entries.size >= maxPutManifests) throw new PutError('full', `there are ${maxPutManifests} manifests already`);
      if (before?.text.equals(text)) return {entry: before, created: false};
      const others = this.list().reduce((sum, entry) => sum + (entry === before ? 0 : entry.text.length), 0);
      if (others + text.length > maxPutTotalBytes)
        throw new PutError('full', `all manifests together are longer than ${maxPutTotalBytes} bytes`);
      const pods = await this.#read(name, text).catch((error: Error) => {
        throw new PutError('invalid', error.message);
      });
      for (const pod of pods) this.#checkFree(name, keyOf(pod));
      await this.#write(name, text);
      const entry = {name, text, pods};
      this.#entries.set(name, entry);
      this.#deliver();
      return {entry, created: before === undefined};
    });
  }

  /** Undefined: there was none. */
  remove(name: string): Promise<Entry | undefined> {
    return this.#next(async () => {
      const entry = this.#entries.get(name);
      if (!entry) return undefined;
      await rm(join(this.#options.folder, `${name}${suffix}`), {force: true});
      this.#entries.delete(name);
      this.#deliver();
      return entry;
    });
  }

  #checkFree(name: string, key: string): void {
    const other = this.list().find((entry) => entry.name !== name && entry.pods.some((pod) => keyOf(pod) === key));
    const owner = other ? `manifest ${JSON.stringify(other.name)}` : this.#options.taken(key);
    if (owner) throw new PutError('conflict', `pod ${JSON.stringify(key)} is already that of ${owner}`);
  }

  async #read(name: string, text: Buffer): Promise<Pod[]> {
    const {node, clock} = this.#options;
    const {readManifest} = await import('./manifest.ts');
    return readManifest(text, {source: 'manifest', from: name, node, now: clock.now()});
  }

  async #write(name: string, text: Buffer): Promise<void> {
    const {folder} = this.#options;
    await mkdir(folder, {recursive: true, mode: 0o700});
    const path = join(folder, `${name}${suffix}`);
    // May hold what nobody else is to read.
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    const at = await open(folder);
    await at.sync().finally(() => at.close());
  }

  #deliver(): void {
    this.#options.deliver(this.list().flatMap(({pods}) => pods));
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => {});
    return done;
  }
}
