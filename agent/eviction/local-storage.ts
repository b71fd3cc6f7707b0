/** Limits on what pods write to the node's disk: an emptyDir or a container over its own is ended. Only what has a limit is looked at. */
import {periodically} from '../periodic.ts';
import type {PodContext} from '../pods/context.ts';
import type {PodManager} from '../pods/manager.ts';
import {label, managedLabels} from '../pods/names.ts';
import type {Pod} from '../pods/pod.ts';
import {bytesOf} from '../pods/resources.ts';
import type {PodWorker} from '../pods/worker.ts';

export interface LocalStorageOptions {
  manager: PodManager;
  context: PodContext;
}

const lookEveryMs = 10_000;
const name = 'ephemeral-storage';
const graceSeconds = 1;

export class LocalStorage {
  readonly #options: LocalStorageOptions;
  #stop: (() => void) | undefined;

  constructor(options: LocalStorageOptions) {
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
    const {manager, context} = this.#options;
    try {
      const live = [...manager.workers()].filter(({isEnding}) => !isEnding);
      for (const worker of live) await this.#volumes(worker);
      await this.#containers(live.filter(({pod}) => pod.spec.containers.some(({resources}) => resources?.limits?.[name])));
    } catch (error) {
      context.log.warn(`local storage: ${(error as Error).message}`);
    }
  }

  async #volumes(worker: PodWorker): Promise<void> {
    for (const volume of limitedVolumes(worker.pod)) {
      const limit = volume.emptyDir!.sizeLimit!;
      const used = await this.#options.context.volumes.usage(worker.pod, volume);
      if (used > bytesOf(limit))
        return this.#evict(worker, `Usage of EmptyDir volume ${JSON.stringify(volume.name)} exceeds the limit ${JSON.stringify(limit)}. `);
    }
  }

  async #containers(workers: readonly PodWorker[]): Promise<void> {
    if (workers.length === 0) return;
    const stats = await this.#options.context.runtime.containerStats(managedLabels);
    for (const worker of workers) {
      for (const {attributes, writableLayer} of stats) {
        if (attributes.labels[label.podUid] !== worker.uid) continue;
        const container = worker.pod.spec.containers.find((one) => one.name === attributes.labels[label.container]);
        const limit = container?.resources?.limits?.[name];
        if (limit && (writableLayer?.usedBytes?.value ?? 0) > bytesOf(limit))
          this.#evict(worker, `Container ${container.name} exceeded its local ephemeral storage limit ${JSON.stringify(limit)}. `);
      }
    }
  }

  #evict(worker: PodWorker, message: string): void {
    const {name, namespace, uid} = worker.pod.metadata;
    this.#options.context.recorder.event({kind: 'Pod', name, namespace, uid}, 'Warning', 'Evicted', message);
    worker.fail('Evicted', message, graceSeconds);
  }
}

/** On a disk: in memory the file system itself keeps the limit. */
const limitedVolumes = ({spec}: Pod) =>
  (spec.volumes ?? []).filter(({emptyDir}) => emptyDir?.sizeLimit && emptyDir.sizeLimit !== '0' && emptyDir.medium !== 'Memory');
