/** Writes into aggregated cluster roles the rules of the roles that they gather: authorizers gather for themselves, people read them here. */
import type {Log} from '../../api.ts';
import {RbacIndex} from '../../auth/rbac/rbac-index.ts';
import type {PolicyRule} from '../../auth/rbac/rules.ts';
import type {ObjectCaches} from '../../changes/object-cache.ts';
import type {Client} from '../../client/client.ts';
import type {Clock} from '../../clock.ts';
import {isReason} from '../../errors.ts';
import type {KubeObject} from '../../object.ts';
import {Queue} from '../queue.ts';

const clusterRoles = {groupVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterroles'};
const storageType = 'clusterroles.rbac.authorization.k8s.io';

/** The role with the rules that it should have; undefined when it has them. */
export function decide(role: KubeObject | undefined, gathered: readonly PolicyRule[] | undefined): KubeObject | undefined {
  if (!role || !gathered || role.metadata.deletionTimestamp) return undefined;
  return JSON.stringify(role['rules'] ?? []) === JSON.stringify(gathered) ? undefined : {...role, rules: gathered};
}

export class AggregationController {
  readonly #options: {client: Client; caches: ObjectCaches};
  readonly #index = new RbacIndex();
  readonly #aggregated = new Set<string>();
  readonly #queue: Queue;

  constructor(options: {client: Client; caches: ObjectCaches; clock: Clock; log: Log}) {
    this.#options = options;
    this.#queue = new Queue(options.clock, options.log, 'role aggregation', async (name) => {
      await this.#settle(name);
      return undefined;
    });
  }

  /** Resolves when the roles that there are hold what they gather. */
  async start(): Promise<void> {
    const cache = await this.#options.caches.of(storageType);
    let started = false;
    cache.onChange((name, object) => {
      if (object) this.#index.set('ClusterRole', object, name);
      else this.#index.delete('ClusterRole', name);
      if (object?.['aggregationRule']) this.#aggregated.add(name);
      else this.#aggregated.delete(name);
      if (started) for (const role of this.#aggregated) this.#queue.add(role);
    });
    await Promise.all([...this.#aggregated].map((name) => this.#settle(name)));
    started = true;
  }

  /** See Queue. */
  settled(signal: AbortSignal): Promise<boolean> {
    return this.#queue.settled(signal);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #settle(name: string): Promise<void> {
    const {client, caches} = this.#options;
    const role = decide((await caches.of(storageType)).get(name), this.#index.aggregatedRules(name));
    if (!role) return;
    try {
      await client.update(clusterRoles, role);
    } catch (error) {
      // The change that we did not know of yet brings us back.
      if (!isReason(error, 'Conflict') && !isReason(error, 'NotFound')) throw error;
    }
  }
}
