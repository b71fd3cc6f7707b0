/**
 * Nodes whose agents have fallen silent: their conditions become Unknown, as the node lifecycle controller says it, so that nothing is bound
 * to them. Told by their Leases; a node without one is somebody's own affair. Steps back where that controller is at work.
 */
import type {Log} from '../../api.ts';
import type {ObjectCaches, Projection} from '../../changes/object-cache.ts';
import type {Client} from '../../client/client.ts';
import type {Clock} from '../../clock.ts';
import {isReason} from '../../errors.ts';
import {rfc3339} from '../../kinds/common/time.ts';
import type {KubeObject} from '../../object.ts';
import {Queue} from '../queue.ts';
import {Leader} from './leader.ts';

/** As the reference's --node-monitor-grace-period. */
const graceMs = 50_000;
/** After a start of ours, for agents to find us again: they renew every ten seconds. */
const reunionMs = 15_000;
const namespace = 'kube-node-lease/';
const spoken = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const keptOfLeases: Projection = (key, image) => {
  if (!key.startsWith(namespace)) return undefined;
  const {spec} = JSON.parse(Buffer.from(image.buffer, image.byteOffset, image.byteLength).toString()) as KubeObject;
  return {kind: '', apiVersion: '', metadata: {}, spec: {renewTime: spec?.renewTime}};
};

export class NodeSilence {
  readonly #options: {client: Client; caches: ObjectCaches; clock: Clock; log: Log};
  readonly #queue: Queue;
  readonly #leader: Leader;
  readonly #heardAt = new Map<string, number>();
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: {client: Client; caches: ObjectCaches; clock: Clock; log: Log}) {
    this.#options = options;
    this.#queue = new Queue(options.clock, options.log, 'node silence', (name) => this.#sayUnknown(name));
    this.#leader = new Leader({...options, name: 'kube-controller-manager', changed: () => {}});
  }

  /** Whether somebody else does this. */
  followLeader(): Promise<void> {
    return this.#leader.start();
  }

  /** At these Leases alone, as they were read. */
  look(leases: readonly KubeObject[]): void {
    const now = this.#options.clock.now();
    for (const {metadata, spec} of leases)
      if (now - (Date.parse(spec?.renewTime) || 0) >= graceMs && !this.#leader.isThere) this.#queue.add(metadata.name!);
  }

  async start(): Promise<void> {
    const {caches, clock} = this.#options;
    await this.followLeader();
    const leases = await caches.projected('leases.coordination.k8s.io', 'nodes', keptOfLeases);
    let isFirst = true;
    leases.onChange((key, lease) => {
      const name = key.slice(namespace.length);
      if (!lease) return void this.#heardAt.delete(name);
      // What is renewed now counts from now, whatever the node's clock says; what was before our time by its own word.
      const now = clock.now();
      const said = Math.min(Date.parse(lease['spec'].renewTime) || 0, now);
      this.#heardAt.set(name, isFirst ? Math.max(said, now - graceMs + reunionMs) : now);
      this.#cancel ??= clock.after(0, () => this.#sweep());
    });
    isFirst = false;
  }

  /** See Queue. */
  settled(signal: AbortSignal): Promise<boolean> {
    return this.#queue.settled(signal);
  }

  stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    this.#leader.stop();
    return this.#queue.stop();
  }

  /** Sleeps until the next could have been silent for too long; not at all while there is no lease. */
  #sweep(): void {
    const {clock} = this.#options;
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [name, heardAt] of this.#heardAt) {
      if (now - heardAt < graceMs) next = Math.min(next, heardAt + graceMs);
      else {
        // Once: it is heard of again when it renews.
        this.#heardAt.delete(name);
        if (!this.#leader.isThere) this.#queue.add(name);
      }
    }
    this.#cancel = next === Number.POSITIVE_INFINITY || this.#stopped ? undefined : clock.after(next - now, () => this.#sweep());
  }

  async #sayUnknown(name: string): Promise<undefined> {
    const {client, clock} = this.#options;
    const path = {groupVersion: 'v1', resource: 'nodes'};
    try {
      const node = await client.get(path, name);
      const present: {type: string; status: string}[] = node['status']?.conditions ?? [];
      const known = present.filter(({type, status}) => spoken.includes(type) && status !== 'Unknown');
      if (known.length === 0 || this.#heardAt.has(name)) return;
      const unknown = {
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: rfc3339(clock.now()),
      };
      const patch = {
        metadata: {resourceVersion: node.metadata.resourceVersion},
        status: {conditions: known.map(({type}) => ({type, ...unknown}))},
      };
      await client.patch(path, name, 'application/strategic-merge-patch+json', patch, 'status');
    } catch (error) {
      if (!isReason(error, 'NotFound')) throw error;
    }
  }
}
