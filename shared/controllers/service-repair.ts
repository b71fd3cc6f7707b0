/**
 * Keeps the claims of cluster addresses and node ports in line with the services that there are: a crash between a claim and its
 * service, or the other way round, leaves one without the other.
 */
import type {Log} from '../api.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Clock} from '../clock.ts';
import type {ServiceAllocator} from '../registry/allocators/service.ts';

const intervalMs = 180_000;

export class ServiceRepair {
  readonly #options: {allocator: ServiceAllocator; caches: ObjectCaches; clock: Clock; log: Log};
  #cancel: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: {allocator: ServiceAllocator; caches: ObjectCaches; clock: Clock; log: Log}) {
    this.#options = options;
  }

  start(): void {
    const {clock, log} = this.#options;
    const round = () => {
      this.#running = this.run().catch((error: unknown) =>
        log.warn({error: String(error)}, 'repair of service addresses will be tried again'),
      );
      this.#cancel = clock.after(intervalMs, round);
    };
    this.#cancel = clock.after(intervalMs, round);
  }

  async stop(): Promise<void> {
    this.#cancel?.();
    await this.#running;
  }

  async run(): Promise<void> {
    const {allocator, caches, log} = this.#options;
    const {claimed, released, suspects} = await allocator.repair([...(await caches.of('services')).values()], this.#suspects);
    this.#suspects = suspects;
    if (claimed.length + released.length > 0) log.info({claimed, released}, 'service addresses repaired');
  }
}
