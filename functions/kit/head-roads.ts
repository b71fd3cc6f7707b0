/**
 * The roads to nodes where a stream cannot be held: they lead as far as the head of the request that the API writes, and whoever asked for
 * the upgrade (dial.ts) sends it on.
 */
import {Duplex} from 'node:stream';
import {badRequest, serviceUnavailable} from '../../shared/errors.ts';
import type {Destination, NodeRoads} from '../../shared/nodes/roads.ts';
import {tunnelTo} from './node-road.ts';
import type {Tunnels} from './tunnels.ts';

/** The head that the API wrote, and where to. */
export interface Head {
  node: string;
  connection: string;
  to: Destination;
  bytes: Buffer;
}

/** The roads of `socket-message`: they lead to whoever waits for the head of a request, found by the request's own signal. */
export const waiting = new WeakMap<AbortSignal, (head: Head) => void>();
const headEnd = '\r\n\r\n';

export const headRoads = (tunnels: () => Promise<Tunnels>): NodeRoads => ({
  async dial(node, to, {signal} = {}) {
    const take = signal && waiting.get(signal);
    if (!take) throw serviceUnavailable('this connection carries upgrades only');
    // A pod may pass over the upgrade and take what comes behind the head for requests of its own, with verbs that nobody was asked about. An agent does not.
    if (to !== 'agent') throw badRequest('upgrades of proxied pods and services are not carried by this server');
    const {name, connection} = await tunnelTo(await tunnels(), node);
    return new HeadTaker((bytes) => take({node: name, connection, to, bytes}));
  },
});

/** Takes a request up to the end of its head. */
class HeadTaker extends Duplex {
  readonly #take: (bytes: Buffer) => void;
  #text = '';

  constructor(take: (bytes: Buffer) => void) {
    super();
    this.#take = take;
    this.on('error', () => {});
  }

  override _read(): void {}

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#text += piece.toString('latin1');
    const end = this.#text.indexOf(headEnd);
    // Behind the head of an upgrade the API writes nothing; what the client writes there comes by its connection.
    // It is the last that the server says, so it must be a request behind which there is no other.
    const head = this.#text.slice(0, end + headEnd.length);
    if (end >= 0 && switches(head)) this.#take(Buffer.from(head, 'latin1'));
    // TLS to a pod begins with a byte that begins no request, and would wait for an answer.
    const isOver = end >= 0 || !/^[A-Z]/.test(this.#text);
    done(isOver ? new Error('only what switches protocols is dialled') : null);
  }
}

/** As whoever reads it will understand it: the word alone, in any of the lines, and no body that the traveller's bytes would be taken for. */
const switches = (head: string): boolean =>
  /\r\nupgrade:/i.test(head) &&
  /\r\nconnection:(?:[^\r]*,)?[ \t]*upgrade[ \t]*(?:,|\r)/i.test(head) &&
  !/\r\n(?:transfer-encoding:|content-length:[ \t]*0*[1-9])/i.test(head);
