/**
 * Containers that have ended and are kept for their logs: so many of each, so many in all, none younger than agreed. The last of a container
 * always stays, it is what the pod's status tells of; all go with their pod. Sandboxes that were replaced go with the last of their containers.
 */
import {periodically} from '../periodic.ts';
import type {Log} from './context.ts';
import type {PodManager} from './manager.ts';
import {type Instance, isRunning} from './plan.ts';

export interface DeadPolicy {
  /** Of one container of a pod; negative: any number. */
  perContainer: number;
  /** Of the node; negative: any number. */
  total: number;
  minAgeMs: number;
}

const everyMs = 60_000;

/** Which of these may go: for each container of a pod its instances, newest first. */
export function superfluous(lists: readonly (readonly Instance[])[], policy: DeadPolicy, now: number): Instance[] {
  const {perContainer, total, minAgeMs} = policy;
  const isOld = ({status}: Instance) => now - status.createdAt / 1e6 >= minAgeMs;
  const dead: Instance[][] = lists.map((list) => list.filter((instance) => isOld(instance) && !isRunning(instance)));
  const isLast = (instance: Instance) => lists.some(([newest]) => newest === instance);
  let kept = dead;
  const gone: Instance[] = [];
  const limit = (most: number) => {
    kept = kept.map((list) => {
      gone.push(...list.slice(most).filter((instance) => !isLast(instance)));
      return list.filter((instance, index) => index < most || isLast(instance));
    });
  };
  if (perContainer >= 0) limit(perContainer);
  const count = () => kept.reduce((sum, list) => sum + list.length, 0);
  if (total < 0 || count() <= total) return gone;
  // The same for each container first, then whatever is oldest.
  limit(Math.max(1, Math.floor(total / kept.filter((list) => list.length > 0).length)));
  const rest = kept
    .flat()
    .filter((instance) => !isLast(instance))
    .sort((a, b) => a.status.createdAt - b.status.createdAt);
  return [...gone, ...rest.slice(0, Math.max(0, count() - total))];
}

export class DeadContainers {
  readonly #manager: PodManager;
  readonly #policy: DeadPolicy;
  readonly #now: () => number;
  readonly #log: Log;
  #stop: (() => void) | undefined;

  constructor(manager: PodManager, policy: DeadPolicy, now: () => number, log: Log) {
    this.#manager = manager;
    this.#policy = policy;
    this.#now = now;
    this.#log = log;
  }

  start(): this {
    this.#stop = periodically(everyMs, () =>
      this.collect().catch((error) => this.#log.warn(`dead containers: ${(error as Error).message}`)),
    );
    return this;
  }

  stop(): void {
    this.#stop?.();
  }

  async collect(): Promise<void> {
    const workers = [...this.#manager.workers()].filter(({isEnding}) => !isEnding);
    const gone = new Set(
      superfluous(
        workers.flatMap(({view}) => [...view.instances.values()]),
        this.#policy,
        this.#now(),
      ),
    );
    for (const worker of workers) {
      for (const instance of worker.view.all()) if (gone.has(instance)) await worker.removeDead(instance);
      await worker.removeOldSandboxes();
    }
  }
}
