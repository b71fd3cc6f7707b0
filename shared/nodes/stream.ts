/**
 * One stream of a tunnel, at either end of it: bytes counted from 0 in both directions, so that frames may come doubled or overtake each
 * other, and credit, so that whoever reads slowly costs a bounded buffer. Whoever holds the connection sends its frames and hands it those
 * that come.
 */
import {Duplex} from 'node:stream';
import {type Frame, windowBytes} from './frames.ts';

export interface TunnelStreamOptions {
  id: string;
  /** Resolves when there is room for more. A rejection ends the stream. */
  send(frame: Frame): Promise<void> | void;
  /** Of one data frame. */
  maxPayload: number;
  /** Somebody else wrote this many bytes before, of what its peer counts. */
  written?: number;
  /** Nothing more is sent, and what comes is not wanted. */
  onClose?(): void;
}

/** Told to whoever reads or writes when the other side has given up, or the tunnel has broken. */
export class StreamReset extends Error {
  override name = 'StreamReset';
}

export class TunnelStream extends Duplex {
  readonly id: string;
  readonly #options: TunnelStreamOptions;
  /** What was sent, and how far it may be. */
  #sent: number;
  #allowed = windowBytes;
  #roomMade: (() => void) | undefined;
  /** What was received without a gap, what of it was handed on, and how far the other side may send. */
  #received = 0;
  #handedOn = 0;
  #granted = windowBytes;
  /** Behind a gap, by offset; ready to be handed on, in order. */
  readonly #early = new Map<number, Uint8Array>();
  readonly #ready: Uint8Array[] = [];
  #wanted = false;
  #endsAt: number | undefined;
  #ended = false;
  #wasReset = false;

  constructor(options: TunnelStreamOptions) {
    super({allowHalfOpen: true, readableHighWaterMark: 64 * 1024, writableHighWaterMark: 64 * 1024});
    this.id = options.id;
    this.#options = options;
    this.#sent = options.written ?? 0;
  }

  /** Up to where it was received without a gap: whoever fetches frames goes on from here. */
  get received(): number {
    return this.#received;
  }

  /** A frame about this stream. One that breaks the rules ends it. */
  deliver(frame: Frame): void {
    if (this.destroyed) return;
    if (frame.action === 'data') this.#takeData(frame.at, frame.bytes);
    else if (frame.action === 'end') this.#takeEnd(frame.at);
    else if (frame.action === 'credit') {
      this.#allowed = Math.max(this.#allowed, frame.upTo);
      this.#roomMade?.();
    } else if (frame.action === 'reset') {
      this.#wasReset = true;
      this.destroy(new StreamReset(frame.reason || 'the other side gave up'));
    } else this.#violated('it was opened twice');
  }

  #takeEnd(at: number): void {
    const isOther = this.#endsAt !== undefined && this.#endsAt !== at;
    if (isOther || at < this.#received) {
      this.#violated('its end was told at two places');
      return;
    }
    this.#endsAt = at;
    this.#handOn();
  }

  #takeData(at: number, bytes: Uint8Array): void {
    const limit = Math.min(this.#granted, this.#endsAt ?? Number.POSITIVE_INFINITY);
    if (at + bytes.length > limit) {
      this.#violated(limit === this.#granted ? 'it sent more than it was given room for' : 'it sent something behind its end');
      return;
    }
    if (at + bytes.length <= this.#received) return;
    const known = this.#early.get(at);
    if (!known || known.length < bytes.length) this.#early.set(at, bytes);
    for (let moved = true; moved; ) {
      moved = false;
      for (const [from, early] of this.#early) {
        if (from > this.#received) continue;
        this.#early.delete(from);
        if (from + early.length <= this.#received) continue;
        this.#ready.push(early.subarray(this.#received - from));
        this.#received = from + early.length;
        moved = true;
      }
    }
    this.#handOn();
  }

  #handOn(): void {
    while (this.#wanted && this.#ready.length > 0) {
      const piece = this.#ready.shift()!;
      this.#handedOn += piece.length;
      this.#wanted = this.push(piece);
    }
    if (this.#ready.length === 0 && this.#endsAt === this.#received && !this.#ended) {
      this.#ended = true;
      this.push(null);
      return;
    }
    const grant = this.#handedOn + windowBytes;
    // Not for every piece: each is a frame.
    if (this.#ended || this.#endsAt !== undefined || grant - this.#granted < windowBytes / 2) return;
    this.#granted = grant;
    this.#tell({action: 'credit', stream: this.id, upTo: grant});
  }

  override _read(): void {
    this.#wanted = true;
    this.#handOn();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#sendAll(chunk).then(() => done(), done);
  }

  override _writev(chunks: {chunk: Buffer}[], done: (error?: Error | null) => void): void {
    this.#sendAll(chunks.length === 1 ? chunks[0]!.chunk : Buffer.concat(chunks.map(({chunk}) => chunk))).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    Promise.resolve(this.#options.send({action: 'end', stream: this.id, at: this.#sent})).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#roomMade?.();
    this.#early.clear();
    this.#ready.length = 0;
    const isOver = this.#ended && this.writableFinished;
    if (!isOver && !this.#wasReset) this.#tell({action: 'reset', stream: this.id, reason: error?.message ?? 'not wanted any more'});
    this.#options.onClose?.();
    done(error);
  }

  async #sendAll(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      while (this.#sent >= this.#allowed && !this.destroyed)
        await new Promise<void>((resolve) => {
          this.#roomMade = resolve;
        });
      if (this.destroyed) throw new StreamReset('the stream is closed');
      const piece = bytes.subarray(from, from + Math.min(this.#options.maxPayload, this.#allowed - this.#sent));
      const at = this.#sent;
      this.#sent += piece.length;
      from += piece.length;
      await this.#options.send({action: 'data', stream: this.id, at, bytes: piece});
    }
  }

  #tell(frame: Frame): void {
    Promise.resolve(this.#options.send(frame)).catch((error: Error) => this.destroy(error));
  }

  #violated(why: string): void {
    this.destroy(new StreamReset(`the other side broke the rules of a stream: ${why}`));
  }
}
