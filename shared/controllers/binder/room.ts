/** What is taken on each node: by pods that are bound to it, and by those that are about to be. */
import {type Amounts, plus} from './requests.ts';
import {anywhere, type HostPort, type Placement} from './subjects.ts';

export interface Taken {
  readonly requests: Amounts;
  readonly weight: Amounts;
  readonly pods: number;
  readonly ports: readonly HostPort[];
}

const nothing: Taken = {requests: {}, weight: {}, pods: 0, ports: []};

export class Rooms {
  readonly #taken = new Map<string, Taken>();
  /** By key of pod. */
  readonly #placements = new Map<string, Placement>();

  on(node: string): Taken {
    return this.#taken.get(node) ?? nothing;
  }

  /** A pod takes its room, or takes another; undefined: it leaves. */
  set(pod: string, placement: Placement | undefined): void {
    const old = this.#placements.get(pod);
    if (old) this.#leave(pod, old);
    if (!placement) return;
    this.#placements.set(pod, placement);
    const {requests, weight, pods, ports} = this.on(placement.node);
    this.#taken.set(placement.node, {
      requests: plus(requests, placement.requests),
      weight: plus(weight, placement.weight),
      pods: pods + 1,
      ports: placement.ports.length > 0 ? [...ports, ...placement.ports] : ports,
    });
  }

  /** Whether this very placement still stands. */
  holds(pod: string, placement: Placement): boolean {
    return this.#placements.get(pod) === placement;
  }

  #leave(pod: string, {node, requests, weight, ports}: Placement): void {
    this.#placements.delete(pod);
    const taken = this.on(node);
    if (taken.pods === 1) return void this.#taken.delete(node);
    this.#taken.set(node, {
      requests: minus(taken.requests, requests),
      weight: minus(taken.weight, weight),
      pods: taken.pods - 1,
      ports: ports.length > 0 ? taken.ports.filter((port) => !ports.includes(port)) : taken.ports,
    });
  }
}

function minus(one: Amounts, other: Amounts): Amounts {
  const out: Record<string, number> = {...one};
  for (const [name, amount] of Object.entries(other)) out[name] = (out[name] ?? 0) - amount;
  return out;
}

export const collide = (one: HostPort, other: HostPort): boolean =>
  one.port === other.port && one.protocol === other.protocol && (one.ip === other.ip || one.ip === anywhere || other.ip === anywhere);
