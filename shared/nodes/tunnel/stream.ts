/**
 * One stream of a tunnel, as anybody else's Duplex. Keeps its own order by offsets, whatever order its frames come in and however often; never
 * sends more than the other side has given credit for. The tunnel carries its frames (multiplexer.ts).
 */
import {Duplex} from 'node:stream';
import type {Clock} from '../../clock.ts';
import {firstCreditBytes, gapMs, maxWaitingBytes, maxWaitingPieces, type StreamFrame, windowBytes} from './frames.ts';

export interface StreamCarrier {
  send(frame: StreamFrame): void;
  /** Undefined: there is room for a frame. */
  room(): Promise<void> | undefined;
  readonly maxDataBytes: number;
  readonly clock: Clock;
  /** Nothing of this stream is sent any more. */
  over(stream: TunnelStream): void;
}

export class TunnelStream extends Duplex {
  readonly id: string;
  readonly #carrier: StreamCarrier;
  #sent: number;
  #credit = firstCreditBytes;
  #onCredit: (() => void) | undefined;
  #received = 0;
  #granted = firstCreditBytes;
  #endsAt: number | undefined;
  #hasEnded = false;
  /** What came before what stands before it, by offset. */
  readonly #waiting = new Map<number, Uint8Array>();
  #waitingBytes = 0;
  #cancelGap: (() => void) | undefined;
  #isReset = false;

  /** `sent`: what somebody else wrote before, and the other side counts. */
  constructor(id: string, carrier: StreamCarrier, sent = 0) {
    super({allowHalfOpen: true, readableHighWaterMark: 128 * 1024, writableHighWaterMark: 128 * 1024});
    this.id = id;
    this.#carrier = carrier;
    this.#sent = sent;
  }

  receive(frame: Exclude<StreamFrame, {action: 'open'}>): void {
    if (this.destroyed) return;
    switch (frame.action) {
      case 'data':
        this.#data(frame.at, frame.bytes);
        break;
      case 'end':
        if (frame.at > this.#granted || (this.#endsAt ?? frame.at) !== frame.at) this.destroy(new Error('the stream ends twice'));
        this.#endsAt = frame.at;
        this.#advance();
        break;
      case 'credit':
        if (frame.at <= this.#credit) break;
        this.#credit = frame.at;
        this.#onCredit?.();
        break;
      case 'reset':
        this.#isReset = true;
        this.destroy(new Error(frame.reason || 'the stream was reset'));
    }
  }

  #data(at: number, bytes: Uint8Array): void {
    const end = at + bytes.length;
    if (end > this.#granted || (this.#endsAt !== undefined && end > this.#endsAt)) {
      this.destroy(new Error('more was sent than there was credit for'));
      return;
    }
    if (end <= this.#received) return;
    const before = this.#waiting.get(at)?.length ?? 0;
    if (at > this.#received && before >= bytes.length) return;
    this.#waitingBytes += bytes.length - before;
    // Pieces that overlap could be many times what there is credit for.
    if (this.#waiting.size >= maxWaitingPieces || this.#waitingBytes > maxWaitingBytes) {
      this.destroy(new Error('too much came in the wrong order'));
      return;
    }
    this.#waiting.set(at, bytes);
    this.#advance();
  }

  /** What is next, as often as there is such. Pieces may overlap: somebody may cut anew what he sends again. */
  #advance(): void {
    const before = this.#received;
    for (let found = true; found && this.#waiting.size > 0; ) {
      found = false;
      for (const [at, bytes] of this.#waiting) {
        if (at > this.#received) continue;
        this.#waiting.delete(at);
        this.#waitingBytes -= bytes.length;
        const end = at + bytes.length;
        if (end <= this.#received) continue;
        const fresh = bytes.subarray(this.#received - at);
        this.#received = end;
        found = true;
        this.push(fresh);
      }
    }
    if (this.#received > before || !this.#cancelGap) this.#watchGap();
    if (this.#received === this.#endsAt && !this.#hasEnded) {
      this.#hasEnded = true;
      this.push(null);
    } else this.#grant();
  }

  #watchGap(): void {
    this.#cancelGap?.();
    this.#cancelGap = undefined;
    if (this.#waiting.size === 0) return;
    this.#cancelGap = this.#carrier.clock.after(gapMs, () => this.destroy(new Error('a part of the stream was lost')));
  }

  override read(size?: number): Buffer | null {
    const bytes = super.read(size) as Buffer | null;
    this.#grant();
    return bytes;
  }

  /** Node asks once, and not again before something comes, which is not when bytes are taken. */
  override _read(): void {}

  #grant(): void {
    const upTo = this.#received - this.readableLength + windowBytes;
    // Half a window at a time: a credit for each piece would be as many frames again.
    if (upTo - this.#granted < windowBytes / 2 || this.#hasEnded || this.destroyed) return;
    this.#granted = upTo;
    this.#carrier.send({action: 'credit', stream: this.id, at: upTo});
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    void this.#write(chunk).then(
      () => done(),
      (error: Error) => done(error),
    );
  }

  async #write(chunk: Uint8Array): Promise<void> {
    const {maxDataBytes} = this.#carrier;
    for (let at = 0; at < chunk.length && !this.destroyed; ) {
      const room = this.#credit > this.#sent ? this.#carrier.room() : this.#moreCredit();
      if (room) {
        await room;
        continue;
      }
      const size = Math.min(chunk.length - at, maxDataBytes, this.#credit - this.#sent);
      this.#carrier.send({action: 'data', stream: this.id, at: this.#sent, bytes: chunk.subarray(at, at + size)});
      this.#sent += size;
      at += size;
    }
  }

  #moreCredit(): Promise<void> {
    return new Promise((resolve) => {
      this.#onCredit = () => {
        this.#onCredit = undefined;
        resolve();
      };
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.destroyed) this.#carrier.send({action: 'end', stream: this.id, at: this.#sent});
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cancelGap?.();
    this.#waiting.clear();
    this.#onCredit?.();
    // Both sides have said their last word, and the other knows.
    const isDone = this.writableFinished && this.readableEnded;
    if (!isDone && !this.#isReset) this.#carrier.send({action: 'reset', stream: this.id, reason: error?.message ?? ''});
    this.#carrier.over(this);
    done(error);
  }
}
