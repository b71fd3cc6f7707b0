/**
 * The tunnels that a server holds: who opened one, whether it still may, and which is the newest of a node. Knows no WebSocket and no API: whoever
 * carries messages brings both along.
 */
import type {Duplex} from 'node:stream';
import {isAnotherNode} from '../../auth/groups.ts';
import type {UserInfo} from '../../auth/user.ts';
import type {Clock} from '../../clock.ts';
import {StatusError, serviceUnavailable} from '../../errors.ts';
import type {Destination} from '../roads.ts';
import {decodeBinary} from './binary.ts';
import {FrameError, helloMs, type TunnelMessage} from './frames.ts';
import {type MessageCarrier, Multiplexer} from './multiplexer.ts';
import {decodeText, encodeMessage} from './text.ts';

export interface TunnelCarrier extends MessageCarrier {
  close(code: number, reason: string): void;
}

export interface TunnelRooms {
  /** By this token, or by what was shown when the connection was opened. @throws StatusError */
  authenticate(token: string | undefined): Promise<UserInfo>;
  /** Whether it may update that node's status: who writes it says where the node is, which is what a tunnel says. */
  mayHold(user: UserInfo, node: string): Promise<boolean>;
}

/** A dead agent is missed after three. */
const pingSeconds = 20;
const silenceMs = 3 * pingSeconds * 1_000;
/** Who it is, and whether it may, is asked again this often. */
const recheckMs = 60_000;
/** A token says hello again well before it can have been exchanged for another. */
const renewSeconds = 240;
const reconnectSeconds = 86_400;

const closeCodes = {done: 1000, goingAway: 1001, malformed: 4400, unauthorized: 4401, silent: 4408} as const;

export class TunnelHost {
  readonly clock: Clock;
  readonly #sessions = new Set<TunnelSession>();
  /** The newest last. */
  readonly #byNode = new Map<string, TunnelSession[]>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** A connection has been opened; its messages go to what is returned. */
  accept(carrier: TunnelCarrier, rooms: TunnelRooms): TunnelSession {
    const session = new TunnelSession(this, carrier, rooms);
    this.#sessions.add(session);
    return session;
  }

  has(node: string): boolean {
    return this.#byNode.has(node);
  }

  /** Undefined without a tunnel. The stream is there at once; what is in the way is said by its error. @throws StatusError 503 */
  dial(node: string, to: Destination): Duplex | undefined {
    return this.#byNode.get(node)?.at(-1)?.open(to);
  }

  /** The server goes. */
  drain(): void {
    for (const session of [...this.#sessions]) session.leave(closeCodes.goingAway, 'the server is shutting down');
  }

  /** A newer tunnel of the same node takes what is new; the former ends with its last stream. */
  welcomed(session: TunnelSession, node: string): void {
    const former = this.#byNode.get(node) ?? [];
    this.#byNode.set(node, [...former, session]);
    for (const one of former) one.retire();
  }

  ended(session: TunnelSession, node: string | undefined): void {
    this.#sessions.delete(session);
    if (node === undefined) return;
    const left = (this.#byNode.get(node) ?? []).filter((one) => one !== session);
    if (left.length > 0) this.#byNode.set(node, left);
    else this.#byNode.delete(node);
  }
}

export class TunnelSession {
  readonly #host: TunnelHost;
  readonly #carrier: TunnelCarrier;
  readonly #rooms: TunnelRooms;
  #node: string | undefined;
  #user: UserInfo | undefined;
  #token: string | undefined;
  #streams: Multiplexer | undefined;
  #isRetired = false;
  #isOver = false;
  #cancelSilence: () => void;
  #cancelRecheck: (() => void) | undefined;
  /** Hellos are heard one after the other. */
  #greeting: Promise<void> = Promise.resolve();

  constructor(host: TunnelHost, carrier: TunnelCarrier, rooms: TunnelRooms) {
    this.#host = host;
    this.#carrier = carrier;
    this.#rooms = rooms;
    this.#cancelSilence = host.clock.after(helloMs, () => this.leave(closeCodes.silent, 'no hello in time'));
  }

  receive(message: string | Uint8Array): void {
    if (this.#isOver) return;
    try {
      if (typeof message === 'string') this.#said(decodeText(message) as TunnelMessage);
      else this.#frame(message);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.leave(closeCodes.malformed, error.message);
    }
  }

  open(to: Destination): Duplex {
    try {
      return this.#streams!.open(to === 'agent' ? to : `${to.host.includes(':') ? `[${to.host}]` : to.host}:${to.port}`);
    } catch (error) {
      throw serviceUnavailable((error as Error).message);
    }
  }

  retire(): void {
    this.#isRetired = true;
    this.#maybeDone();
  }

  leave(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#carrier.send(encodeMessage({action: 'bye', code, reason}));
    this.#carrier.close(code, reason);
    this.closed();
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelSilence();
    this.#cancelRecheck?.();
    this.#host.ended(this, this.#streams && this.#node);
    this.#streams?.close(new Error(`the tunnel of node ${JSON.stringify(this.#node)} broke`));
  }

  #frame(message: Uint8Array): void {
    if (!this.#streams) throw new FrameError('a frame before the welcome');
    this.#streams.receive(decodeBinary(message));
  }

  #said(message: TunnelMessage): void {
    switch (message.action) {
      case 'hello':
        this.#greeting = this.#greeting.then(() => this.#hello(message)).catch((error: unknown) => this.#refuse(error));
        break;
      case 'ping':
        this.#heard();
        this.#carrier.send(encodeMessage({action: 'pong'}));
        break;
      case 'bye':
        this.#carrier.close(closeCodes.done, '');
        this.closed();
        break;
      default:
        throw new FrameError(`nothing that an agent says: ${message.action}`);
    }
  }

  async #hello({node, token}: Extract<TunnelMessage, {action: 'hello'}>): Promise<void> {
    if (this.#isOver) return;
    if (this.#node !== undefined && this.#node !== node) throw new FrameError(`this is the tunnel of node ${this.#node}`);
    await this.#check(node, token);
    if (this.#isOver) return;
    this.#token = token;
    this.#heard();
    const isFirst = !this.#streams;
    this.#node = node;
    this.#streams ??= new Multiplexer({form: 'binary', carrier: this.#carrier, clock: this.#host.clock, closed: () => this.#maybeDone()});
    this.#carrier.send(encodeMessage({action: 'welcome', form: 'binary', pingSeconds, renewSeconds, reconnectSeconds}));
    if (!isFirst) return;
    this.#host.welcomed(this, node);
    this.#recheckLater();
  }

  /** @throws StatusError when it may not */
  async #check(node: string, token: string | undefined): Promise<void> {
    const user = await this.#rooms.authenticate(token);
    if (this.#user && this.#user.name !== user.name) throw new FrameError(`this tunnel is ${this.#user.name}'s`);
    this.#user = user;
    if (isAnotherNode(user, node) || !(await this.#rooms.mayHold(user, node)))
      throw new NotAllowed(`${user.name} cannot update the status of node ${node}`);
  }

  #recheckLater(): void {
    this.#cancelRecheck?.();
    this.#cancelRecheck = this.#host.clock.after(recheckMs, () => {
      this.#check(this.#node!, this.#token).then(
        () => {
          if (!this.#isOver) this.#recheckLater();
        },
        (error: unknown) => this.#refuse(error),
      );
    });
  }

  /** A fault of ours is no reason to believe less in an agent that was believed: it is asked again. */
  #refuse(error: unknown): void {
    if (this.#isOver) return;
    const {message} = error as Error;
    if (error instanceof FrameError) this.leave(closeCodes.malformed, message);
    else if (error instanceof NotAllowed || (error instanceof StatusError && error.status.code < 500))
      this.leave(closeCodes.unauthorized, message);
    else if (this.#streams) this.#recheckLater();
    else this.leave(closeCodes.goingAway, 'try again');
  }

  #heard(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#host.clock.after(silenceMs, () => this.leave(closeCodes.silent, 'no sign of life'));
  }

  #maybeDone(): void {
    if (this.#isRetired && this.#streams?.size === 0) this.leave(closeCodes.done, 'a newer tunnel took over');
  }
}

class NotAllowed extends Error {}
