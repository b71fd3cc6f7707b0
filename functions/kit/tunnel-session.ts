/**
 * One message of a connection that carries streams (docs/tunnel.md): a node's tunnel, which says that the node lives, or a traveller's, who
 * dials. Who it is, and what it may say; what streams carry goes on in tunnel-frames.ts.
 */
import {requireAllowed} from '../../shared/auth/authorize.ts';
import {isAnotherNode} from '../../shared/auth/groups.ts';
import type {UserInfo} from '../../shared/auth/user.ts';
import {closeCodes} from '../../shared/changes/protocol/messages.ts';
import {expiryOf, welcome} from '../../shared/changes/protocol/server.ts';
import {badRequest, failure, type StatusError, unauthorized} from '../../shared/errors.ts';
import {attributesOf, requestInfo} from '../../shared/http/request-info.ts';
import {statusOf} from '../../shared/http/status.ts';
import {leaseSeconds, livePingSeconds} from '../../shared/nodes/liveness.ts';
import {FrameError, maxTextMessageBytes, tunnelProtocol} from '../../shared/nodes/tunnel/frames.ts';
import {decodeText} from '../../shared/nodes/tunnel/text.ts';
import type {Cluster} from './cluster.ts';
import type {Connection} from './connections.ts';
import {doors} from './doors.ts';
import {authenticated, type SocketParts} from './socket-session.ts';
import {endStreams, passOn} from './tunnel-frames.ts';

export {tunnelProtocol};

const nodeName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

interface Known {
  user: UserInfo;
  expiresAt: number;
  /** Absent: a traveller. */
  node?: string;
}

/** Connections that this environment has heard: their frames cost no look at who it is. */
const known = new Map<string, Known>();
const maxKnown = 10_000;

export const isKnownTunnel = (id: string): boolean => known.has(id);

function remember(id: string, tunnel: Known): void {
  if (known.size >= maxKnown) known.delete(known.keys().next().value!);
  known.set(id, tunnel);
}

/** `connection`: as the table has it; absent when it is known here. */
export async function receiveTunnel(parts: SocketParts, id: string, text: string, connection?: Connection): Promise<void> {
  const session = new TunnelSession(parts, id);
  try {
    await session.receive(text, connection);
  } catch (error) {
    // What is wrong with what it says is told; what is wrong with us is not its fault.
    const {status} = statusOf(error instanceof FrameError ? badRequest(error.message) : error);
    if (status.code >= 500) throw error;
    await session.leave(status.code === 400 ? closeCodes.malformed : closeCodes.unauthorized, status.message ?? '');
  }
}

class TunnelSession {
  readonly #parts: SocketParts;
  readonly #id: string;

  constructor(parts: SocketParts, id: string) {
    this.#parts = parts;
    this.#id = id;
  }

  async receive(text: string, connection: Connection | undefined): Promise<void> {
    if (Buffer.byteLength(text) > maxTextMessageBytes) throw badRequest(`a message must not be longer than ${maxTextMessageBytes} bytes`);
    const head = headOf(text);
    if (head['action'] === 'hello') return this.#hello(head, connection);
    const speaker = this.#speaker(connection);
    if (head['action'] === 'ping') return speaker.node === undefined ? this.#doubt() : this.#ping(speaker.node);
    if (head['action'] === 'dial') {
      if (speaker.node !== undefined) throw badRequest('a node does not dial');
      const {dial, dialMessageOf} = await import('./dial.ts');
      return dial(this.#parts, this.#id, speaker.user, dialMessageOf(head));
    }
    const frame = decodeText(text);
    if (!('stream' in frame)) throw badRequest(`unknown action ${JSON.stringify(head['action'])?.slice(0, 100)}`);
    return passOn(this.#parts, this.#id, frame, text);
  }

  async leave(code: number, reason: string): Promise<void> {
    const {sockets, connections, tunnels, streams} = this.#parts;
    const tunnel = known.get(this.#id);
    known.delete(this.#id);
    if (tunnel?.node !== undefined) await tunnels.ended(tunnel.node, this.#id);
    await this.#say({action: 'bye', code, reason: reason.slice(0, 200)});
    await connections.remove(this.#id);
    await endStreams({streams, sockets: async () => sockets}, this.#id);
    await sockets.close(this.#id);
  }

  /** Whose it is, once it has said so and as long as it may be believed. */
  #speaker(connection: Connection | undefined): Known {
    const {node, user, expiresAt} = connection ?? {};
    if (user && expiresAt !== undefined) remember(this.#id, {user, expiresAt, ...(node !== undefined && {node})});
    const speaker = known.get(this.#id);
    if (!speaker || speaker.expiresAt <= doors.clock.now()) throw unauthorized();
    return speaker;
  }

  async #hello({node, token}: Record<string, unknown>, given: Connection | undefined): Promise<void> {
    const {cluster, connections, tunnels} = this.#parts;
    if (node !== undefined && (typeof node !== 'string' || !nodeName.test(node))) throw badRequest('node must be the name of a node');
    if (token !== undefined && typeof token !== 'string') throw badRequest('token must be a string');
    const connection = given ?? (await connections.read(this.#id))?.connection;
    if (!connection) return this.leave(closeCodes.goingAway, 'this connection is not known');
    if (connection.user && connection.node !== node) throw badRequest(`this is the tunnel of ${connection.node ?? 'no node'}`);
    const now = doors.clock.now();
    const {user, expiresAt} = await speaks(cluster, connection, token, now);
    if (connection.user && connection.user.name !== user.name) throw unauthorized();
    if (node !== undefined) await mayBe(cluster, user, node);
    await connections.put(this.#id, {...connection, user, expiresAt, ...(node !== undefined && {node})});
    if (node !== undefined) await tunnels.open(node, this.#id, expiresAt);
    remember(this.#id, {user, expiresAt, ...(node !== undefined && {node})});
    const {renewSeconds, reconnectSeconds} = welcome(
      {connectedAt: connection.connectedAt, heardAt: now, expiresAt, topics: new Map()},
      now,
      livePingSeconds,
    );
    const times = {pingSeconds: livePingSeconds, renewSeconds, reconnectSeconds};
    await this.#say({action: 'welcome', form: 'text', ...times, ...(node !== undefined && {leaseSeconds})});
  }

  /** Whether the nodes that a traveller has streams to are still there: nobody promises that the end of a connection is told. */
  async #doubt(): Promise<void> {
    const {streams, tunnels} = this.#parts;
    for (const {stream, node, agent} of await streams.ofConnection(this.#id)) {
      const tunnel = await tunnels.of(node);
      if (tunnel && (tunnel.connection !== agent || tunnels.isLive(tunnel))) continue;
      await this.#say({action: 'reset', stream, reason: 'the node is not heard any more'});
    }
    await this.#say({action: 'pong'});
  }

  async #ping(node: string): Promise<void> {
    const {tunnels} = this.#parts;
    if (!(await tunnels.heard(node, this.#id))) {
      const current = await tunnels.of(node);
      // A newer tunnel of the node tells of it now; this one lives as long as its streams.
      if (!current || current.connection === this.#id) return this.leave(closeCodes.goingAway, 'this tunnel has ended');
    }
    await this.#say({action: 'pong'});
  }

  async #say(message: object): Promise<void> {
    const {sockets, connections} = this.#parts;
    if ((await sockets.post(this.#id, [Buffer.from(JSON.stringify(message))])) === 'gone') {
      known.delete(this.#id);
      await connections.remove(this.#id);
    }
  }
}

async function speaks(
  cluster: Cluster,
  {speaker}: Connection,
  token: string | undefined,
  now: number,
): Promise<{user: UserInfo; expiresAt: number}> {
  const {store, caches} = cluster.assembly.machine;
  // Accounts and roles as they are now.
  await store.begin?.({});
  await caches.behind();
  if (token === undefined) {
    if (!speaker || speaker.expiresAt <= now) throw unauthorized();
    return speaker;
  }
  const user = await authenticated(cluster, {method: 'GET', path: '/', query: [], headers: {authorization: `Bearer ${token}`}});
  return {user, expiresAt: expiryOf(token, now)};
}

/** Whoever may write a node's status may say that it lives, and hear what is asked of it; but no node may for another. @throws StatusError 403 */
async function mayBe({assembly}: Cluster, user: UserInfo, node: string): Promise<void> {
  if (isAnotherNode(user, node)) throw failure(403, 'Forbidden', `${user.name} is not node ${node}`);
  await requireAllowed(assembly.machine.authorizer, attributesOf(requestInfo('PUT', `/api/v1/nodes/${node}/status`, []), user));
}

function headOf(text: string): Record<string, unknown> {
  const end = text.indexOf('\n');
  const refuse = (): StatusError => badRequest('a message begins with a line of JSON');
  let head: unknown;
  try {
    head = JSON.parse(end < 0 ? text : text.slice(0, end));
  } catch {
    throw refuse();
  }
  if (typeof head !== 'object' || head === null || Array.isArray(head)) throw refuse();
  return head as Record<string, unknown>;
}
