/**
 * Keeps the taints that say how a node is in line with its conditions, as the node lifecycle controller does: a node is born with
 * not-ready, and would keep it. Only NoSchedule: nobody is evicted. Where that controller runs both want the same.
 */
import type {Log} from '../../api.ts';
import type {ObjectCaches} from '../../changes/object-cache.ts';
import type {Client} from '../../client/client.ts';
import type {Clock} from '../../clock.ts';
import {isReason} from '../../errors.ts';
import {sameJson} from '../../kinds/common/equal.ts';
import {rfc3339} from '../../kinds/common/time.ts';
import {Queue} from '../queue.ts';
import {keptOfNodes} from './subjects.ts';
import {type Taint, taintsByCondition} from './taints.ts';

export class NodeTaints {
  readonly #options: {client: Client; caches: ObjectCaches; clock: Clock};
  readonly #queue: Queue;

  constructor(options: {client: Client; caches: ObjectCaches; clock: Clock; log: Log}) {
    this.#options = options;
    this.#queue = new Queue(options.clock, options.log, 'node taints', (name) => this.#settle(name));
  }

  async start(): Promise<void> {
    (await this.#nodes()).onChange((name, node) => {
      if (node) this.#queue.add(name);
    });
  }

  /** See Queue. */
  settled(signal: AbortSignal): Promise<boolean> {
    return this.#queue.settled(signal);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  #nodes() {
    return this.#options.caches.projected('nodes', 'binder', keptOfNodes);
  }

  async #settle(name: string): Promise<undefined> {
    const {client, clock} = this.#options;
    const node = (await this.#nodes()).get(name);
    if (!node) return;
    const before: Taint[] = node['spec'].taints ?? [];
    const wanted = taintsByCondition(before, node['status'].conditions, node['spec'].unschedulable ?? false);
    if (sameJson(before, wanted)) return;
    const timeAdded = rfc3339(clock.now());
    const taints = wanted.map((taint) => (before.includes(taint) ? taint : {...taint, timeAdded}));
    const {resourceVersion} = node.metadata;
    try {
      await client.patch({groupVersion: 'v1', resource: 'nodes'}, name, 'application/merge-patch+json', {
        metadata: {resourceVersion},
        spec: {taints: taints.length > 0 ? taints : null},
      });
    } catch (error) {
      // Whoever changed it meanwhile has queued it again.
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }
}
