/** Logs of running containers that grow too long: put aside under a name with the time, squeezed, and in the end thrown away. */
import {createReadStream, createWriteStream} from 'node:fs';
import {readdir, rename, rm, stat} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {createGzip} from 'node:zlib';
import {periodically} from '../periodic.ts';
import type {Runtime} from '../runtime/runtime.ts';
import type {Log} from './context.ts';
import type {PodManager} from './manager.ts';
import {logDirectory} from './names.ts';

export interface LogRotationOptions {
  manager: PodManager;
  runtime: Runtime;
  log: Log;
  logRoot: string;
  maxBytes: number;
  /** Of a container, the one that is being written included. */
  maxFiles: number;
}

const lookEveryMs = 10_000;

export class LogRotation {
  readonly #options: LogRotationOptions;
  #stop: (() => void) | undefined;

  constructor(options: LogRotationOptions) {
    this.#options = options;
  }

  start(): this {
    this.#stop = periodically(lookEveryMs, () => this.#look());
    return this;
  }

  stop(): void {
    this.#stop?.();
  }

  async #look(): Promise<void> {
    const {manager, logRoot, maxBytes, log} = this.#options;
    for (const {pod, view} of manager.workers()) {
      for (const {id, name, notes} of view.running()) {
        const path = join(logDirectory(logRoot, pod.metadata), name, `${notes.restarts}.log`);
        const size = (await stat(path).catch(() => undefined))?.size ?? 0;
        if (size < maxBytes) continue;
        await this.rotate(path, id).catch((error) => log.warn(`cannot rotate ${path}: ${(error as Error).message}`));
      }
    }
  }

  async rotate(path: string, id: string): Promise<void> {
    const {runtime, maxFiles} = this.#options;
    const time = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
    const aside = `${path}.${time}`;
    await rename(path, aside);
    try {
      await runtime.reopenLog(id);
    } catch (error) {
      // The runtime goes on writing into the old one: it takes its name back.
      await rename(aside, path);
      throw error;
    }
    const folder = dirname(path);
    const old = (await readdir(folder)).filter((name) => name.startsWith(`${basename(path)}.`)).sort();
    // The newest stays as it is: a follower may still be reading it.
    for (const name of old.slice(0, -1)) if (!name.endsWith('.gz')) await squeeze(join(folder, name));
    const left = (await readdir(folder)).filter((name) => name.startsWith(`${basename(path)}.`)).sort();
    for (const name of left.slice(0, Math.max(0, left.length - (maxFiles - 1)))) await rm(join(folder, name), {force: true});
  }
}

async function squeeze(path: string): Promise<void> {
  const part = `${path}.tmp`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(part));
  await rename(part, `${path}.gz`);
  await rm(path, {force: true});
}
