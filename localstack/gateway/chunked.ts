/**
 * An HTTP/1 response as a sink for watches, past Node's own framing: the pieces of a watch are the same array for all its watchers,
 * so each is framed once and goes to the socket as it is, where Node would queue four writes for it and join them, for each watcher.
 */
import type {ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import type {Sink} from './stream.ts';

const lineEnd = Buffer.from('\r\n');
/** Watchers of a change are served one after the other: remembering one piece is enough. */
let last: {piece: Uint8Array; chunk: Buffer} | undefined;

function chunkOf(piece: Uint8Array): Buffer {
  if (last?.piece !== piece) last = {piece, chunk: Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, lineEnd])};
  return last.chunk;
}

/** `out` has sent its headers. Where it cannot be bypassed (HTTP/1.0, an answer that waits for the one before it) it is its own sink. */
export function chunkedSink(out: ServerResponse): Sink {
  const {socket} = out;
  return out.chunkedEncoding && socket ? new ChunkedSink(out, socket) : out;
}

class ChunkedSink implements Sink {
  readonly #out: ServerResponse;
  readonly #socket: Socket;
  #onDrain: (() => void) | undefined;

  constructor(out: ServerResponse, socket: Socket) {
    this.#out = out;
    this.#socket = socket;
  }

  get destroyed(): boolean {
    return this.#out.destroyed || this.#socket.destroyed;
  }

  write(piece: Uint8Array): boolean {
    // An empty chunk would be the end of the answer.
    return piece.length === 0 || this.#socket.write(chunkOf(piece));
  }

  end(): void {
    if (this.#onDrain) this.#socket.removeListener('drain', this.#onDrain);
    this.#out.end();
  }

  on(event: 'drain' | 'close', listener: () => void): void {
    if (event === 'close') this.#out.on('close', listener);
    else {
      this.#onDrain = listener;
      this.#socket.on('drain', listener);
    }
  }

  once(event: 'drain' | 'close', listener: () => void): void {
    (event === 'close' ? this.#out : this.#socket).once(event, listener);
  }

  removeListener(event: 'drain' | 'close', listener: () => void): void {
    (event === 'close' ? this.#out : this.#socket).removeListener(event, listener);
  }
}
