/** Keeps the disk of images below its threshold: looks every few minutes, removes what collection.ts chooses, and says when that is not enough. */
import type {Clock} from '../../shared/clock.ts';
import type {Recorder} from '../events/recorder.ts';
import {periodically} from '../periodic.ts';
import type {Log} from '../pods/context.ts';
import type {Runtime} from '../runtime/runtime.ts';
import {bytesToFree, type CollectionPolicy, type DiskUse, ImageRecords, type Kept, usedPercent} from './collection.ts';

export interface ImageCollectorOptions {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  recorder: Recorder;
  node: string;
  policy: CollectionPolicy;
  /** Of pods that are here, by name. */
  wanted(): readonly string[];
  /** Of the file system at this path. */
  disk(mountpoint: string): Promise<DiskUse>;
  /** Told after an image went. */
  removed(): void;
}

const everyMs = 300_000;
const firstLookMs = 10_000;

export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  readonly #records = new ImageRecords();
  #sandboxImage: string | undefined;
  #failed = false;
  #stop: (() => void) | undefined;

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
  }

  start(): this {
    if (this.#options.policy.high >= 100) return this;
    // Ages count from the first look; that one need not be while the agent starts.
    const cancel = this.#options.clock.after(firstLookMs, () => void this.look().catch(() => {}));
    const stop = periodically(everyMs, () => this.#round());
    this.#stop = () => {
      cancel();
      stop();
    };
    return this;
  }

  stop(): void {
    this.#stop?.();
  }

  async #round(): Promise<void> {
    const {log} = this.#options;
    try {
      await this.collect();
      this.#failed = false;
    } catch (error) {
      const {message} = error as Error;
      log.warn(`image collection: ${message}`);
      if (this.#failed) this.#say('ImageGCFailed', message);
      this.#failed = true;
    }
  }

  /** Sees what is used, for the order in which images go. */
  async look() {
    const {runtime, clock, policy} = this.#options;
    // Images first: a container that is made meanwhile is then among those that keep theirs.
    const images = await runtime.images();
    const containers = await runtime.containers();
    return this.#records.candidates(images, await this.#kept(containers), clock.now(), policy.minAgeMs);
  }

  async #kept(containers: Kept['containers']): Promise<Kept> {
    const {runtime, wanted} = this.#options;
    // No list shows that sandboxes use it. Who cannot say removes nothing.
    this.#sandboxImage ??= await runtime.sandboxImage();
    return {containers, names: [...wanted(), this.#sandboxImage]};
  }

  /** @throws Error when too little could be freed */
  async collect(): Promise<void> {
    const {runtime, policy, disk, log, removed} = this.#options;
    const candidates = await this.look();
    const [filesystem] = await runtime.imageFilesystems();
    const use = await disk(filesystem?.fsId?.mountpoint ?? '');
    if (use.totalBytes === 0) {
      this.#say('InvalidDiskCapacity', 'invalid capacity 0 on image filesystem');
      throw new Error('invalid capacity 0 on image filesystem');
    }
    const wanted = bytesToFree(use, policy);
    if (wanted <= 0) return;
    log.info(`images use ${usedPercent(use)}% of their disk, ${policy.high}% is the threshold: ${wanted} bytes are to be freed`);
    let freed = 0;
    const failures: string[] = [];
    for (const {id, size, repoTags} of candidates) {
      if (freed >= wanted) break;
      try {
        await runtime.removeImage(id);
        removed();
        freed += size;
        log.info(`removed image ${repoTags[0] ?? id}, ${size} bytes`);
      } catch (error) {
        failures.push((error as Error).message);
      }
    }
    if (failures.length > 0)
      throw new Error(
        `wanted to free ${wanted} bytes, but freed ${freed} bytes space with errors in image deletion: ${failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`}`,
      );
    if (freed >= wanted) return;
    const message = `Insufficient free disk space on the node's image filesystem (${usedPercent(use)}% of ${sizeText(use.totalBytes)} used). Failed to free sufficient space by deleting unused images (freed ${freed} bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`;
    this.#say('FreeDiskSpaceFailed', message);
    throw new Error(message);
  }

  #say(reason: string, message: string): void {
    const {recorder, node} = this.#options;
    recorder.event({kind: 'Node', name: node, uid: node}, 'Warning', reason, message);
  }
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = -1;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}
