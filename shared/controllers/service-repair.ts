/**
 * Keeps the claims of cluster addresses and node ports in line with the services that there are: a crash between a claim and its
 * service, or the other way round, leaves one without the other.
 */
import type {Log} from '../api.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Clock} from '../clock.ts';
import type {ServiceAllocator} from '../registry/allocators/service.ts';
import {Rounds} from './rounds.ts';

const intervalMs = 180_000;

export class ServiceRepair extends Rounds {
  readonly #options: {allocator: ServiceAllocator; caches: ObjectCaches; clock: Clock; log: Log};
  #suspects: ReadonlySet<string> = new Set();

  constructor(options: {allocator: ServiceAllocator; caches: ObjectCaches; clock: Clock; log: Log}) {
    super(options, 'repair of service addresses', intervalMs);
    this.#options = options;
  }

  async run(): Promise<void> {
    const {allocator, caches, log} = this.#options;
    const {claimed, released, suspects} = await allocator.repair([...(await caches.of('services')).values()], this.#suspects);
    this.#suspects = suspects;
    if (claimed.length + released.length > 0) log.info({claimed, released}, 'service addresses repaired');
  }
}
