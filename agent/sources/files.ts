/** Pods from a file, or from the files of a folder: read when the system says that they changed, and now and then without. */
import {type FSWatcher, watch} from 'node:fs';
import {readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import type {Log} from '../pods/context.ts';
import type {Pod} from '../pods/pod.ts';

export interface FileSourceOptions {
  path: string;
  node: string;
  everyMs: number;
  now(): number;
  deliver(pods: Pod[]): void;
  log: Log;
}

/** Writers take more than one step; reading after the last of them saves a pod from a half-written file. */
const quietMs = 50;

interface Known {
  stamp: string;
  pods: Pod[];
}

export class FileSource {
  readonly #options: FileSourceOptions;
  readonly #known = new Map<string, Known>();
  #delivered = false;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #stopped = false;

  constructor(options: FileSourceOptions) {
    this.#options = options;
  }

  start(): this {
    void this.read();
    return this;
  }

  stop(): void {
    this.#stopped = true;
    this.#watcher?.close();
    clearTimeout(this.#timer);
  }

  read(): Promise<void> {
    this.#reading ??= this.#read()
      .catch((error) => this.#options.log.error(`cannot read ${this.#options.path}`, error))
      .finally(() => {
        this.#reading = undefined;
        this.#schedule(this.#options.everyMs);
      });
    return this.#reading;
  }

  #schedule(ms: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.read(), ms);
    this.#timer.unref();
  }

  async #read(): Promise<void> {
    const {path, deliver, log} = this.#options;
    const found = await stat(path).catch(() => undefined);
    if (!found) {
      log.warn(`path does not exist, ignoring: ${path}`);
      if (this.#known.size > 0 || !this.#delivered) deliver([]);
      this.#known.clear();
      this.#delivered = true;
      return;
    }
    this.#watch();
    const names = found.isDirectory()
      ? (await readdir(path, {withFileTypes: true}))
          .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
          .map(({name}) => join(path, name))
      : [path];
    for (const known of this.#known.keys()) if (!names.includes(known)) this.#known.delete(known);
    for (const name of names.sort()) await this.#readOne(name);
    deliver([...this.#known.values()].flatMap(({pods}) => pods));
    this.#delivered = true;
  }

  /** A file that cannot be read is nobody else's trouble; what it held before goes on. */
  async #readOne(file: string): Promise<void> {
    const {node, now, log} = this.#options;
    try {
      const {mtimeMs, ino, size} = await stat(file);
      const stamp = `${mtimeMs}/${ino}/${size}`;
      const before = this.#known.get(file);
      if (before?.stamp === stamp) return;
      const {readManifest} = await import('./manifest.ts');
      this.#known.set(file, {stamp, pods: before?.pods ?? []});
      const pods = readManifest(await readFile(file), {source: 'file', from: file, node, now: now()});
      this.#known.set(file, {stamp, pods});
    } catch (error) {
      log.error(`cannot read pod manifest ${file}`, error);
    }
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      this.#watcher = watch(this.#options.path, () => this.#schedule(quietMs));
      this.#watcher.unref();
      this.#watcher.on('error', () => this.#unwatch());
    } catch {
      // No more watches to be had: the period has to do.
      this.#unwatch();
    }
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
