/**
 * The way to a node, whichever it is: a tunnel that its agent dialled, or a connection to its address. What comes back is a stream of
 * bytes; HTTP is spoken on it by exchange.ts. Written down in docs/tunnel.md.
 */
import type {Duplex} from 'node:stream';
import type {KubeObject} from '../object.ts';

/** The agent's own HTTP server, or a TCP port of something on its node: a pod's address, never another machine's. */
export type Destination = 'agent' | {host: string; port: number};

export interface DialOptions {
  signal?: AbortSignal;
  /** What is asked of the agent is a stranger's choice (the `proxy` of a node): an address that is only this machine's is not dialled for it. */
  proxied?: boolean;
}

export interface NodeRoads {
  /**
   * Plain HTTP can be spoken on the stream to an agent: who asks has been authenticated on the way. Whoever dials has decided that its user
   * may. The stream is destroyed with an error when the road breaks. Without a node (a pod that was never bound) only addresses are left.
   * @throws StatusError ServiceUnavailable or Timeout, which says what is in the way
   */
  dial(node: KubeObject | undefined, to: Destination, options?: DialOptions): Promise<Duplex>;
}
