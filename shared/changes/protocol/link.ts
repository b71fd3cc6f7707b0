/** One connection of a client: hello, pings, parts put together, and its age. What is said on it is client.ts's affair. */
import type {Clock} from '../../clock.ts';
import {decodeServerMessage, ProtocolError} from './decode.ts';
import {connectionMs, maxSubscriptions} from './limits.ts';
import {closeCodes, type EventsMessage, type ServerMessage} from './messages.ts';
import {Assembler} from './parts.ts';

export interface Transport {
  send(text: string): void;
  close(code: number): void;
}

export interface TransportEvents {
  open(): void;
  message(text: string): void;
  /** Once, also for a connection that never came about. */
  closed(code: number, reason: string): void;
}

export interface LinkOptions {
  dial(events: TransportEvents): Transport;
  /** Asked before each hello. Undefined where the connection itself speaks for the client. */
  token?(): Promise<string | undefined>;
  clock: Clock;
  random: () => number;
}

/** From dialling to welcome, and from ping to pong. */
const answerPatienceMs = 30_000;

interface LinkEvents {
  welcome(): void;
  message(message: ServerMessage): void;
  /** It is time for a new connection. */
  replace(): void;
  closed(code: number, reason: string): void;
}

/** What frames of topics that nobody knows yet may take, in characters. */
const maxEarlyCharacters = 4 * 1024 * 1024;

/** One connection: hello, pings, parts, and its age. */
export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  readonly #assembler = new Assembler();
  /** Subscriptions that have not been answered. */
  readonly pending = new Set<string>();
  welcomed = false;
  maxSubscriptions: number = maxSubscriptions;
  #transport: Transport | undefined;
  #ended = false;
  #early: EventsMessage[] = [];
  #earlyCharacters = 0;
  #pingMs = 0;
  #cancelPatience = (): void => {};
  #cancelPing = (): void => {};
  #cancelRenew = (): void => {};
  #cancelReplace = (): void => {};

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  start(): void {
    this.#expectAnswer();
    this.#transport = this.#options.dial({
      open: () => void this.#hello(),
      message: (text) => this.#receive(text),
      closed: (code, reason) => this.#finish(code, reason),
    });
  }

  send(text: string): void {
    if (!this.#ended) this.#transport?.send(text);
  }

  end(code: number, reason = 'no longer needed'): void {
    if (this.#ended) return;
    const transport = this.#transport;
    this.#finish(code, reason);
    transport?.close(code);
  }

  /** Keeps a frame for a subscription that may turn out to be meant. */
  keep(message: EventsMessage): void {
    if (this.pending.size === 0) return;
    this.#early.push(message);
    this.#earlyCharacters += sizeOf(message);
    while (this.#earlyCharacters > maxEarlyCharacters) this.#earlyCharacters -= sizeOf(this.#early.shift()!);
  }

  claim(topic: string): EventsMessage[] {
    const claimed = this.#early.filter((message) => message.topic === topic);
    if (this.pending.size === 0) {
      this.#early = [];
      this.#earlyCharacters = 0;
    }
    return claimed;
  }

  async #hello(): Promise<void> {
    let token: string | undefined;
    try {
      token = await this.#options.token?.();
    } catch (error) {
      this.end(closeCodes.unauthorized, `no credential: ${(error as Error).message}`);
      return;
    }
    this.send(JSON.stringify({action: 'hello', ...(token !== undefined && {token})}));
  }

  #receive(text: string): void {
    if (this.#ended) return;
    let message: ServerMessage | undefined;
    try {
      message = decodeServerMessage(text);
      if (message?.action === 'part') {
        const whole = this.#assembler.add(message);
        if (whole === undefined) return;
        message = decodeServerMessage(whole);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.end(closeCodes.malformed, error.message);
      return;
    }
    if (!message) return;
    switch (message.action) {
      case 'welcome':
        this.#welcome(message);
        return;
      case 'bye':
        this.end(message.code, message.reason);
        return;
      case 'pong':
        this.#cancelPatience();
        this.#pingLater();
    }
    if (this.welcomed) this.#events.message(message);
  }

  #welcome({renewSeconds, pingSeconds, reconnectSeconds, maxSubscriptions}: Extract<ServerMessage, {action: 'welcome'}>): void {
    const {clock, random} = this.#options;
    this.#cancelPatience();
    this.#cancelRenew();
    this.#cancelRenew = clock.after(renewSeconds * 1_000 * (0.75 + random() / 10), () => {
      this.#expectAnswer();
      void this.#hello();
    });
    if (this.welcomed) return;
    this.welcomed = true;
    this.maxSubscriptions = maxSubscriptions;
    this.#pingMs = pingSeconds * 1_000;
    this.#pingLater();
    const ageMs = Math.min(reconnectSeconds * 1_000, connectionMs);
    this.#cancelReplace = clock.after(ageMs * (0.9 + random() / 10), () => this.#events.replace());
    this.#events.welcome();
  }

  #pingLater(): void {
    const {clock, random} = this.#options;
    this.#cancelPing();
    this.#cancelPing = clock.after(this.#pingMs * (0.9 + random() / 10), () => {
      this.#expectAnswer();
      this.send('{"action":"ping"}');
    });
  }

  #expectAnswer(): void {
    this.#cancelPatience();
    this.#cancelPatience = this.#options.clock.after(answerPatienceMs, () => this.end(closeCodes.silent, 'the server does not answer'));
  }

  #finish(code: number, reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelPatience();
    this.#cancelPing();
    this.#cancelRenew();
    this.#cancelReplace();
    this.#early = [];
    this.#events.closed(code, reason);
  }
}

const sizeOf = ({events}: EventsMessage): number => events.reduce((sum, {line}) => sum + line.length, 100);
