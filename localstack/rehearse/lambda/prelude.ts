/** Takes the metadata off the head of a streamed answer: JSON, eight NUL bytes, then the payload. */
import type {StreamSink} from './runtime-api.ts';

const delimiter = Buffer.alloc(8);
/** API Gateway gives up on a delimiter that does not come within so many bytes. */
const preludeLimit = 16 * 1024;

export class Preludes {
  readonly #sink: StreamSink;
  /** What has come before the delimiter; undefined once it has been seen. */
  #before: Buffer | undefined;

  /** `framed`: the handler made its stream with metadata; otherwise all of it is payload. */
  constructor(sink: StreamSink, framed: boolean) {
    this.#sink = sink;
    if (framed) this.#before = Buffer.alloc(0);
    else sink.head({});
  }

  /** @throws where the metadata is none */
  push(piece: Buffer): void {
    if (this.#before === undefined) {
      this.#sink.data(piece);
      return;
    }
    const before = Buffer.concat([this.#before, piece]);
    const end = before.indexOf(delimiter);
    if (end < 0) {
      if (before.length > preludeLimit) throw new Error(`no delimiter within ${preludeLimit} bytes`);
      this.#before = before;
      return;
    }
    this.#before = undefined;
    this.#sink.head(JSON.parse(before.subarray(0, end).toString()));
    const rest = before.subarray(end + delimiter.length);
    if (rest.length > 0) this.#sink.data(rest);
  }
}
