/** A body that pushes, as a sequence that is pulled: for adapters and tests that want nothing but an AsyncIterable. */
import type {PushBody, PushSink, PushSource} from '../http/messages.ts';

/** `pushTo` is called once: when the sequence is iterated, or when an adapter subscribes. */
export function pushBody(pushTo: (sink: PushSink) => PushSource): PushBody {
  return {pushTo, [Symbol.asyncIterator]: () => new Pulled(pushTo)};
}

/** Lets the source write one piece at a time: what is not pulled stays with the source, which knows how much it may hold. */
class Pulled implements AsyncIterator<Uint8Array, undefined>, PushSink {
  readonly #pushTo: (sink: PushSink) => PushSource;
  #source: PushSource | undefined;
  #pieces: Uint8Array[] = [];
  #ended = false;
  #waiting: ((result: IteratorResult<Uint8Array, undefined>) => void) | undefined;

  constructor(pushTo: (sink: PushSink) => PushSource) {
    this.#pushTo = pushTo;
  }

  write(piece: Uint8Array): boolean {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting({done: false, value: piece});
    else this.#pieces.push(piece);
    return false;
  }

  end(): void {
    this.#ended = true;
    this.#waiting?.({done: true, value: undefined});
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = this.#pieces.shift();
    if (piece) return Promise.resolve({done: false, value: piece});
    if (this.#ended) return Promise.resolve({done: true, value: undefined});
    return new Promise((resolve) => {
      this.#waiting = resolve;
      if (this.#source) this.#source.drained();
      else this.#source = this.#pushTo(this);
    });
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    // Also a source that nobody pulled from holds something to be let go of.
    this.#source ??= this.#pushTo(this);
    this.#source.close();
    this.end();
    return {done: true, value: undefined};
  }
}
