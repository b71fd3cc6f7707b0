/** Pods from a file, or from the files of a folder: read when the system says that they changed, and now and then without. */
import {type FSWatcher, watch} from 'node:fs';
import {readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../shared/clock.ts';
import type {Log} from '../pods/context.ts';
import type {Pod} from '../pods/pod.ts';
import {maxManifestBytes} from './limits.ts';

export interface FileSourceOptions {
  path: string;
  node: string;
  everyMs: number;
  clock: Clock;
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
  #cancel = (): void => {};
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
    this.#cancel();
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
    this.#cancel();
    this.#cancel = this.#options.clock.after(ms, () => void this.read());
  }

  async #read(): Promise<void> {
    const {path, deliver, log} = this.#options;
    const found = await stat(path).catch(() => undefined);
    if (!found) {
      if (this.#known.size > 0 || !this.#delivered) {
        log.warn(`path does not exist, ignoring: ${path}`);
        deliver([]);
      }
      this.#known.clear();
      this.#unwatch();
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
    const {node, clock, log} = this.#options;
    try {
      const found = await stat(file);
      // A link to a folder; or a pipe, which would be waited for.
      if (!found.isFile()) return;
      const stamp = `${found.mtimeMs}/${found.ino}/${found.size}`;
      const before = this.#known.get(file);
      if (before?.stamp === stamp) return;
      this.#known.set(file, {stamp, pods: before?.pods ?? []});
      if (found.size > maxManifestBytes) throw new Error(`manifest is longer than ${maxManifestBytes} bytes`);
      const {readManifest} = await import('./manifest.ts');
      const pods = readManifest(await readFile(file), {source: 'file', from: file, node, now: clock.now()});
      this.#known.set(file, {stamp, pods});
    } catch (error) {
      log.error(`cannot read pod manifest ${file}`, error);
    }
  }

  #watch(): void {
    if (this.#watcher) return;
    try {
      this.#watcher = watch(this.#options.path, (event) => {
        // Another file, or folder, may stand there now: it is watched from the next look on.
        if (event === 'rename') this.#unwatch();
        this.#schedule(quietMs);
      });
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
