/**
 * Pods to nodes on a cluster that has no process of its own: what a server does at each change (shared/controllers/binder) is done when a
 * pod or a node has rung. Which nodes are silent is asked of the API, which knows by their tunnels.
 */
import {Binder, type BinderOptions} from '../../shared/controllers/binder/binder.ts';
import {NodeSilence} from '../../shared/controllers/binder/node-silence.ts';
import {NodeTaints} from '../../shared/controllers/binder/node-taints.ts';
import type {Store} from '../../shared/storage/contract.ts';

const types = ['nodes', 'pods', 'leases.coordination.k8s.io'];
const nodeLeases = {groupVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'kube-node-lease'};

export class Placing {
  readonly #options: BinderOptions & {store: Store};
  readonly #silence: NodeSilence;
  readonly #taints: NodeTaints;
  readonly #binder: Binder;
  #started: Promise<void> | undefined;

  constructor(options: BinderOptions & {store: Store}) {
    this.#options = options;
    this.#silence = new NodeSilence(options);
    this.#taints = new NodeTaints(options);
    this.#binder = new Binder(options);
  }

  static isRungBy(type: string): boolean {
    return type === 'nodes' || type === 'pods';
  }

  /** False when `signal` came first. Its caches are opened by the first ring: most environments never need them. */
  async react(signal: AbortSignal): Promise<boolean> {
    const {store, client} = this.#options;
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    await this.#started;
    for (const type of types) await store.head(type);
    this.#silence.look((await client.list(nodeLeases)).items);
    const told = await this.#silence.settled(signal);
    // What was just said of nodes is to be known before pods are given to them.
    await store.head('nodes');
    this.#binder.lookAgain();
    const settled = await Promise.all([this.#taints.settled(signal), this.#binder.settled(signal)]);
    return told && !settled.includes(false);
  }

  async #start(): Promise<void> {
    await this.#silence.followLeader();
    await this.#taints.start();
    await this.#binder.start();
  }
}
