/**
 * The road to a node from a function: frames are posted to the connection that is its tunnel, and what comes back is read from the stream's
 * mailbox, where the function that hears the agent puts it. Nobody tells that something came: it is looked for, often while something does.
 */
import type {Duplex} from 'node:stream';
import {serviceUnavailable} from '../../shared/errors.ts';
import type {Destination, DialOptions, NodeRoads} from '../../shared/nodes/roads.ts';
import {Multiplexer} from '../../shared/nodes/tunnel/multiplexer.ts';
import type {TunnelStream} from '../../shared/nodes/tunnel/stream.ts';
import type {KubeObject} from '../../shared/object.ts';
import {doors} from './doors.ts';
import type {Sockets} from './sockets.ts';
import type {StreamRow, Streams} from './streams.ts';
import type {Tunnels} from './tunnels.ts';

export interface RoadParts {
  tunnels: Tunnels;
  streams: Streams;
  sockets: Sockets;
}

/** A look at an empty mailbox costs half a read unit. */
const firstLookMs = 20;
const longestLookMs = 250;
/** While nothing comes it is asked this often whether the tunnel is still there. */
const doubtMs = 60_000;
/** Posts under way at a time; whoever writes more waits. */
const postsAtOnce = 4;

/** Streams whose last words are on their way: an invocation must not end, and freeze, before they are said. */
const closing = new Set<Promise<void>>();
export const roadsClosed = async (): Promise<void> => void (await Promise.all(closing));

/** @throws StatusError 503 */
export async function tunnelTo(tunnels: Tunnels, node: KubeObject | undefined): Promise<{name: string; connection: string}> {
  if (!node) throw serviceUnavailable('a pod that has no node cannot be reached');
  const {name} = node.metadata as {name: string};
  const tunnel = await tunnels.of(name);
  if (!tunnel || !tunnels.isLive(tunnel)) throw serviceUnavailable(`node ${JSON.stringify(name)} cannot be reached: no agent is connected`);
  return {name, connection: tunnel.connection};
}

export const destinationText = (to: Destination): string =>
  to === 'agent' ? to : to.host.includes(':') ? `[${to.host}]:${to.port}` : `${to.host}:${to.port}`;

export class NodeRoad implements NodeRoads {
  readonly #parts: () => Promise<RoadParts>;

  constructor(parts: () => Promise<RoadParts>) {
    this.#parts = parts;
  }

  async dial(node: KubeObject | undefined, to: Destination, {signal}: DialOptions = {}): Promise<Duplex> {
    const parts = await this.#parts();
    const {name, connection} = await tunnelTo(parts.tunnels, node);
    const row = {stream: crypto.randomUUID(), node: name, agent: connection};
    await parts.streams.open(row);
    const stream = new Travel(parts, row, to).stream;
    if (signal?.aborted) stream.destroy();
    else signal?.addEventListener('abort', () => stream.destroy(), {once: true});
    return stream;
  }
}

class Travel {
  readonly stream: TunnelStream;
  readonly #parts: RoadParts;
  readonly #row: StreamRow;
  readonly #mux: Multiplexer;
  readonly #posts = new Set<Promise<void>>();
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(parts: RoadParts, row: StreamRow, to: Destination) {
    this.#parts = parts;
    this.#row = row;
    this.#mux = new Multiplexer({
      form: 'text',
      clock: doors.clock,
      carrier: {
        send: (message) => this.#post(String(message)),
        room: () => (this.#posts.size < postsAtOnce ? undefined : Promise.race(this.#posts)),
      },
      closed: () => this.#over(),
    });
    this.stream = this.#mux.open(destinationText(to), row.stream);
    const read = this.#read().catch((error: Error) => void this.stream.destroy(error));
    const closed = read.then(() => this.#close()).finally(() => closing.delete(closed));
    closing.add(closed);
  }

  #over(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  #post(message: string): void {
    const {sockets, tunnels} = this.#parts;
    const {agent, node} = this.#row;
    const posted: Promise<void> = sockets
      .post(agent, [Buffer.from(message)])
      .then(async (outcome) => {
        if (outcome === 'sent') return;
        await tunnels.ended(node, agent);
        this.stream.destroy(serviceUnavailable(`the connection of node ${JSON.stringify(node)} has ended`));
      })
      .catch((error: Error) => void this.stream.destroy(error))
      .finally(() => this.#posts.delete(posted));
    this.#posts.add(posted);
  }

  async #read(): Promise<void> {
    const {streams} = this.#parts;
    const {clock} = doors;
    let offset = 0;
    let ended = false;
    let credit = 0;
    let waitMs = firstLookMs;
    let heardAt = clock.now();
    while (!this.#isOver) {
      await this.#pause(waitMs);
      if (this.#isOver) return;
      waitMs = Math.min(waitMs * 1.5, longestLookMs);
      for (const frame of await streams.fetch(this.#row.stream, offset)) {
        const isNew =
          (frame.action === 'data' && frame.at >= offset && frame.bytes.length > 0) ||
          (frame.action === 'end' && !ended) ||
          (frame.action === 'credit' && frame.at > credit) ||
          frame.action === 'reset';
        if (!isNew) continue;
        this.#mux.receive(frame);
        // Behind a gap it is looked at again: what fills it is before it.
        if (frame.action === 'data' && frame.at === offset) offset += frame.bytes.length;
        if (frame.action === 'end') ended = true;
        if (frame.action === 'credit') credit = frame.at;
        waitMs = firstLookMs;
        heardAt = clock.now();
      }
      if (clock.now() - heardAt >= doubtMs) {
        await this.#doubt();
        heardAt = clock.now();
      }
    }
  }

  /** Nobody promises that the end of a connection is told. */
  async #doubt(): Promise<void> {
    const {tunnels} = this.#parts;
    const {node, agent} = this.#row;
    const tunnel = await tunnels.of(node);
    if (tunnel && (tunnel.connection !== agent || tunnels.isLive(tunnel))) return;
    this.stream.destroy(serviceUnavailable(`node ${JSON.stringify(node)} is not heard any more`));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = doors.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
      if (this.#isOver) this.#wake();
    });
  }

  async #close(): Promise<void> {
    await Promise.all(this.#posts);
    await this.#parts.streams.close(this.#row);
  }
}
