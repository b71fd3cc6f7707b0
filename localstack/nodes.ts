/** The ways to nodes of a cluster on this machine: a tunnel where its agent has opened one, else its address. Nothing is loaded before it is needed. */
import type {Duplex} from 'node:stream';
import type {KeyPair} from '../shared/auth/certificate-authority.ts';
import {type Clock, systemClock} from '../shared/clock.ts';
import type {DirectRoad} from '../shared/nodes/direct.ts';
import type {Destination, DialOptions, NodeRoads} from '../shared/nodes/roads.ts';
import type {TunnelHost} from '../shared/nodes/tunnel/host.ts';
import type {KubeObject} from '../shared/object.ts';

export class WaysToNodes implements NodeRoads {
  readonly #client: KeyPair;
  readonly #clock: Clock;
  #direct: Promise<DirectRoad> | undefined;
  #opening: Promise<TunnelHost> | undefined;
  #tunnels: TunnelHost | undefined;

  /** `client` says to agents that it is the API server who asks. */
  constructor(client: KeyPair, clock: Clock = systemClock) {
    this.#client = client;
    this.#clock = clock;
  }

  async dial(node: KubeObject | undefined, to: Destination, options?: DialOptions): Promise<Duplex> {
    const tunnelled = node && this.#tunnels?.dial(node.metadata.name!, to);
    if (tunnelled) return tunnelled;
    this.#direct ??= import('../shared/nodes/direct.ts').then((room) => new room.DirectRoad({client: this.#client}));
    return (await this.#direct).dial(node, to, options);
  }

  /** For whoever hears agents. */
  tunnels(): Promise<TunnelHost> {
    this.#opening ??= import('../shared/nodes/tunnel/host.ts').then((room) => {
      this.#tunnels = new room.TunnelHost(this.#clock);
      return this.#tunnels;
    });
    return this.#opening;
  }
}
