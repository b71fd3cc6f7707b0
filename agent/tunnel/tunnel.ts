/**
 * The agent's side of its node's tunnel: finds out whether the server offers one, dials it, keeps it, and dials again when it breaks. What comes
 * through it is served.ts.
 */
import type {WebSocket} from 'ws';
import {collect} from '../../shared/client/connection.ts';
import type {Credentials} from '../../shared/client/node/credentials.ts';
import {openSocket, socketUrl} from '../../shared/client/node/dial.ts';
import {HttpConnection} from '../../shared/client/node/http-connection.ts';
import type {Clock} from '../../shared/clock.ts';
import {decodeBinary} from '../../shared/nodes/tunnel/binary.ts';
import {maxBinaryMessageBytes, type StreamFrame, type TunnelMessage, tunnelProtocol} from '../../shared/nodes/tunnel/frames.ts';
import {Multiplexer} from '../../shared/nodes/tunnel/multiplexer.ts';
import type {TunnelStream} from '../../shared/nodes/tunnel/stream.ts';
import {decodeText, encodeMessage} from '../../shared/nodes/tunnel/text.ts';
import {messageCarrier} from '../../shared/nodes/tunnel/web-socket.ts';

export interface TunnelOptions {
  credentials: Credentials;
  node: string;
  clock: Clock;
  random?: () => number;
  serve(stream: TunnelStream, to: string): void;
  /** The server knows by the tunnel that the node lives, and is otherwise told this often; undefined: it does not any more. */
  lives?(leaseSeconds: number | undefined): void;
  log: {debug(text: string): void; info(text: string): void; warn(text: string): void};
}

const leastDelayMs = 200;
const mostDelayMs = 30_000;
/** A server that offers none may be another one after its next release. */
const askAgainMs = 300_000;
/** A tunnel that lived this long was none that cannot be had. */
const goodMs = 10_000;
/** Pings without an answer until a connection is believed to be dead. */
const maxUnanswered = 2;
const welcomeMs = 15_000;

export class NodeTunnel {
  readonly #options: TunnelOptions;
  readonly #connections = new Set<TunnelConnection>();
  #cancel: (() => void) | undefined;
  #delayMs = leastDelayMs;
  #stopped = false;
  #complaint = '';

  constructor(options: TunnelOptions) {
    this.#options = options;
  }

  start(): this {
    void this.#dial();
    return this;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    for (const connection of this.#connections) connection.close();
  }

  async #dial(): Promise<void> {
    const {credentials, clock, log} = this.#options;
    const begun = clock.now();
    try {
      const url = await this.#offered();
      if (this.#stopped) return;
      if (!url) {
        this.#later(askAgainMs);
        return;
      }
      const socket = await openSocket(url, tunnelProtocol, credentials, {maxPayload: maxBinaryMessageBytes});
      const connection = new TunnelConnection(socket, {
        ...this.#options,
        welcomed: () => {
          this.#complaint = '';
          log.debug('tunnel: open');
        },
        // While the former still has streams.
        replace: () => void this.#dial(),
        ended: (reason, isLast, wasRefused) => {
          this.#connections.delete(connection);
          if (wasRefused) void credentials.present(true).catch(() => {});
          if (!isLast || this.#stopped) return;
          if (clock.now() - begun > goodMs) this.#delayMs = leastDelayMs;
          this.#complain(reason);
          this.#later();
        },
      });
      this.#connections.add(connection);
      if (this.#stopped) connection.close();
    } catch (error) {
      this.#complain((error as Error).message);
      this.#later();
    }
  }

  /** Each new reason once: a server that is away for a night fills no log. */
  #complain(reason: string): void {
    const {log} = this.#options;
    if (reason === this.#complaint) log.debug(`tunnel: ${reason}`);
    else log.warn(`tunnel: ${reason}`);
    this.#complaint = reason;
  }

  #later(ms?: number): void {
    if (this.#stopped) return;
    const {clock, random = Math.random} = this.#options;
    this.#cancel?.();
    this.#cancel = clock.after(ms ?? this.#delayMs * (0.5 + random() / 2), () => void this.#dial());
    if (ms === undefined) this.#delayMs = Math.min(mostDelayMs, this.#delayMs * 2);
  }

  /** Undefined where there is no gateway for it. @throws Error when the server cannot be asked */
  async #offered(): Promise<string | undefined> {
    const connection = new HttpConnection(this.#options.credentials);
    try {
      const reply = await connection.send({method: 'GET', path: '/version'});
      await collect(reply);
      if (reply.status !== 200) throw new Error(`the server answers ${reply.status} for its version`);
      const offered = reply.headers['node-tunnel'];
      const [address, protocol] = (typeof offered === 'string' ? offered : '').split(' ');
      return address && protocol === tunnelProtocol ? socketUrl(address, connection.url).href : undefined;
    } finally {
      connection.close();
    }
  }
}

interface ConnectionEvents extends TunnelOptions {
  welcomed(): void;
  replace(): void;
  /** `isLast`: no other connection takes its place. `wasRefused`: the credential is not good. */
  ended(reason: string, isLast: boolean, wasRefused: boolean): void;
}

/** One WebSocket. */
class TunnelConnection {
  readonly #socket: WebSocket;
  readonly #events: ConnectionEvents;
  readonly #cancels = new Set<() => void>();
  #streams: Multiplexer | undefined;
  #unanswered = 0;
  #isReplaced = false;
  #tells = false;
  #isOver = false;
  #reason = '';
  #wasRefused = false;

  constructor(socket: WebSocket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#after(welcomeMs, () => {
      if (!this.#streams) this.#break('no welcome in time');
    });
    socket.on('open', () => void this.#hello().catch((error: Error) => this.#break(error.message)));
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('unexpected-response', (request, response) => {
      this.#wasRefused = response.statusCode === 401;
      this.#reason = `the server answers ${response.statusCode} for a tunnel`;
      request.destroy();
      this.#over();
    });
    socket.on('error', (error) => {
      this.#reason ||= error.message;
    });
    socket.on('close', (code, reason) => {
      this.#wasRefused ||= code === 4401;
      this.#reason ||= reason.toString() || `the connection was closed (${code})`;
      this.#over();
    });
  }

  close(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close(1000);
    else this.#socket.terminate();
    this.#over();
  }

  async #hello(): Promise<void> {
    const {node, credentials} = this.#events;
    const token = /^Bearer (.+)$/.exec((await credentials.present()).authorization ?? '')?.[1];
    this.#say({action: 'hello', node, ...(token !== undefined && {token})});
  }

  #receive(data: Buffer, isBinary: boolean): void {
    try {
      if (isBinary) this.#frame(decodeBinary(data));
      else {
        const said = decodeText(data.toString());
        if ('stream' in said) this.#frame(said);
        else this.#said(said);
      }
    } catch (error) {
      this.#break(`the server says what is no frame: ${(error as Error).message}`);
    }
  }

  #frame(frame: StreamFrame): void {
    this.#streams?.receive(frame);
  }

  #said(message: TunnelMessage): void {
    switch (message.action) {
      case 'welcome':
        this.#welcome(message);
        break;
      case 'pong':
        this.#unanswered = 0;
        break;
      case 'bye':
        this.#wasRefused = message.code === 4401;
        this.#reason = message.reason;
        break;
      default:
    }
  }

  #welcome({form, pingSeconds, renewSeconds, reconnectSeconds, leaseSeconds}: Extract<TunnelMessage, {action: 'welcome'}>): void {
    this.#unanswered = 0;
    const {clock, serve, lives, welcomed} = this.#events;
    this.#after(renewSeconds * 1_000 * 0.9, () => void this.#hello().catch((error: Error) => this.#break(error.message)));
    // Later ones only renew.
    if (this.#streams) return;
    this.#streams = new Multiplexer({
      form,
      carrier: messageCarrier(this.#socket),
      clock,
      accept: serve,
      closed: () => {
        if (this.#isReplaced && this.#streams?.size === 0) this.close();
      },
    });
    const ping = (): void => {
      if (this.#unanswered >= maxUnanswered) this.#break('the server does not answer');
      this.#unanswered++;
      this.#say({action: 'ping'});
      this.#after(pingSeconds * 1_000, ping);
    };
    this.#after(pingSeconds * 1_000, ping);
    this.#after(reconnectSeconds * 1_000 * 0.95, () => this.#replaced());
    this.#tells = leaseSeconds !== undefined;
    if (this.#tells) lives?.(leaseSeconds);
    welcomed();
  }

  /** It is old: a new one takes what is new. */
  #replaced(): void {
    this.#isReplaced = true;
    this.#events.replace();
    if (this.#streams?.size === 0) this.close();
  }

  #break(reason: string): void {
    this.#reason ||= reason;
    this.#socket.terminate();
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const cancel of this.#cancels) cancel();
    this.#streams?.close(new Error('the tunnel broke'));
    if (this.#tells && !this.#isReplaced) this.#events.lives?.(undefined);
    this.#events.ended(this.#reason, !this.#isReplaced, this.#wasRefused);
  }

  #after(ms: number, callback: () => void): void {
    if (this.#isOver) return;
    const cancel = this.#events.clock.after(ms, () => {
      this.#cancels.delete(cancel);
      if (!this.#isOver) callback();
    });
    this.#cancels.add(cancel);
  }

  #say(message: TunnelMessage): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(encodeMessage(message));
  }
}
