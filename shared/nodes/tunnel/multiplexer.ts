/**
 * The streams of one tunnel: opened here or there, fed by frames. The same on both ends and in both forms; who may open a tunnel, and how it
 * lives and dies, is host.ts and the agent's affair.
 */
import type {Clock} from '../../clock.ts';
import {encodeBinary, maxBinaryDataBytes} from './binary.ts';
import {type Form, maxEarlyFrames, maxRemembered, maxStreams, type StreamFrame} from './frames.ts';
import {type StreamCarrier, TunnelStream} from './stream.ts';
import {encodeText, maxTextDataBytes} from './text.ts';

/** A connection that carries messages. */
export interface MessageCarrier {
  send(message: string | Uint8Array): void;
  /** Undefined: it takes a message now. */
  room(): Promise<void> | undefined;
}

export interface MultiplexerOptions {
  form: Form;
  carrier: MessageCarrier;
  clock: Clock;
  /** The other side wants a stream. Left out: it may not. */
  accept?(stream: TunnelStream, to: string): void;
  /** A stream is over. */
  closed?(): void;
}

export class Multiplexer {
  readonly #options: MultiplexerOptions;
  readonly #streams = new Map<string, TunnelStream>();
  /** Streams that are over, the oldest first. */
  readonly #past = new Set<string>();
  /** Of streams whose opening is still on its way. */
  readonly #early: StreamFrame[] = [];
  readonly #streamCarrier: StreamCarrier;
  #next = 1;
  #isOver = false;

  constructor(options: MultiplexerOptions) {
    this.#options = options;
    const {form, carrier, clock} = options;
    this.#streamCarrier = {
      send: (frame) => this.#send(frame),
      room: () => carrier.room(),
      maxDataBytes: form === 'binary' ? maxBinaryDataBytes : maxTextDataBytes,
      clock,
      over: (stream) => this.#over(stream),
    };
  }

  get size(): number {
    return this.#streams.size;
  }

  /** @throws Error when there are too many */
  open(to: string, id = String(this.#next++)): TunnelStream {
    if (this.#isOver) throw new Error('the tunnel is closed');
    if (this.#streams.size >= maxStreams) throw new Error('too many streams in the tunnel');
    const stream = this.#add(id);
    this.#send({action: 'open', stream: id, to});
    return stream;
  }

  /** A stream that somebody else opened for this side, and has written so many bytes to. */
  adopt(id: string, sent: number): TunnelStream {
    if (this.#isOver) throw new Error('the tunnel is closed');
    return this.#add(id, sent);
  }

  receive(frame: StreamFrame): void {
    const {stream: id} = frame;
    const stream = this.#streams.get(id);
    if (frame.action === 'open') {
      if (!stream && !this.#past.has(id)) this.#accept(id, frame.to);
    } else if (stream) stream.receive(frame);
    else if (this.#options.accept && !this.#past.has(id)) {
      this.#early.push(frame);
      if (this.#early.length > maxEarlyFrames) this.#early.shift();
    }
  }

  /** The tunnel is gone, and with it its streams. */
  close(error: Error): void {
    this.#isOver = true;
    for (const stream of [...this.#streams.values()]) stream.destroy(error);
  }

  #accept(id: string, to: string): void {
    const {accept} = this.#options;
    if (!accept || this.#streams.size >= maxStreams) {
      this.#remember(id);
      this.#send({action: 'reset', stream: id, reason: accept ? 'too many streams in the tunnel' : 'nothing is opened from this side'});
      return;
    }
    const stream = this.#add(id);
    accept(stream, to);
    for (let at = 0; at < this.#early.length; ) {
      const frame = this.#early[at]!;
      if (frame.stream !== id) at++;
      else if (this.#early.splice(at, 1)) stream.receive(frame as Exclude<StreamFrame, {action: 'open'}>);
    }
  }

  #add(id: string, sent = 0): TunnelStream {
    const stream = new TunnelStream(id, this.#streamCarrier, sent);
    // Whoever has it listens for errors; nobody has to before he has it.
    stream.on('error', () => {});
    this.#streams.set(id, stream);
    return stream;
  }

  #over({id}: TunnelStream): void {
    this.#streams.delete(id);
    this.#remember(id);
    this.#options.closed?.();
  }

  #remember(id: string): void {
    this.#past.add(id);
    if (this.#past.size > maxRemembered) this.#past.delete(this.#past.values().next().value!);
  }

  #send(frame: StreamFrame): void {
    if (!this.#isOver) this.#options.carrier.send(this.#options.form === 'binary' ? encodeBinary(frame) : encodeText(frame));
  }
}
