/**
 * The way to a node, whichever it is: a tunnel that its agent dialled, or a connection to its address. What comes back is a stream of
 * bytes; HTTP is spoken on it by exchange.ts. Written down in docs/tunnel.md.
 */
import type {Duplex} from 'node:stream';
import type {KubeObject} from '../object.ts';

/** The agent's own HTTP server, or a TCP port of something on its node: a pod's address, never another machine's. */
export type Destination = 'agent' | {host: string; port: number};

export interface NodeRoads {
  /**
   * Plain HTTP can be spoken on the stream to an agent: who asks has been authenticated on the way. Whoever dials has decided that its user
   * may. The stream is destroyed with an error when the road breaks.
   * @throws StatusError ServiceUnavailable, which says what is in the way
   */
  dial(node: KubeObject, to: Destination, signal?: AbortSignal): Promise<Duplex>;
}
