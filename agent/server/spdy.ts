/**
 * As much of SPDY/3.1 as a client of a streaming server needs: streams that it opens itself, their data both ways, and their ends. Headers are
 * deflated with the protocol's dictionary. There is no flow control but the connection's own: container runtimes know none either.
 */
import {EventEmitter} from 'node:events';
import type {Duplex} from 'node:stream';
import zlib from 'node:zlib';
import {dictionary} from './spdy-dictionary.ts';

const version = 3;
const type = {synStream: 1, synReply: 2, rstStream: 3, ping: 6} as const;
const fin = 1;
const maxFrame = 32 * 1024;

interface StreamEvents {
  data: [bytes: Buffer];
  end: [];
  close: [];
}

export class SpdyStream extends EventEmitter<StreamEvents> {
  readonly id: number;
  readonly #connection: SpdyConnection;

  constructor(id: number, connection: SpdyConnection) {
    super();
    this.id = id;
    this.#connection = connection;
  }

  /** Whether more may be written at once; otherwise the connection says when it is drained. */
  write(bytes: Buffer): boolean {
    let more = true;
    for (let at = 0; at < bytes.length; at += maxFrame) more = this.#connection.data(this.id, bytes.subarray(at, at + maxFrame), 0);
    return more;
  }

  /** No more from here; the other side may go on. */
  end(): void {
    this.#connection.data(this.id, Buffer.alloc(0), fin);
  }
}

export class SpdyConnection {
  readonly #socket: Duplex;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #deflate = zlib.createDeflate({dictionary, level: zlib.constants.Z_BEST_SPEED});
  #nextId = 1;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('close', () => this.#closeAll());
    socket.on('error', () => this.#closeAll());
    socket.resume();
  }

  async open(headers: Readonly<Record<string, string>>): Promise<SpdyStream> {
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = new SpdyStream(id, this);
    this.#streams.set(id, stream);
    const block = await this.#compress(headers);
    const body = Buffer.alloc(10);
    body.writeUInt32BE(id, 0);
    this.#control(type.synStream, 0, Buffer.concat([body, block]));
    return stream;
  }

  /** What was written is sent; what comes is not waited for. */
  close(): void {
    this.#socket.end(() => this.#socket.destroy());
  }

  onceDrained(callback: () => void): void {
    this.#socket.once('drain', callback);
  }

  /** While whoever takes the data is behind. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  data(id: number, bytes: Buffer, flags: number): boolean {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(id, 0);
    head.writeUInt32BE(((flags << 24) | bytes.length) >>> 0, 4);
    return this.#socket.write(Buffer.concat([head, bytes]));
  }

  #control(kind: number, flags: number, body: Buffer): void {
    const head = Buffer.alloc(8);
    head.writeUInt16BE(0x8000 | version, 0);
    head.writeUInt16BE(kind, 2);
    head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
    this.#socket.write(Buffer.concat([head, body]));
  }

  /** One stream of deflate serves all headers of a connection, in order. */
  #compress(headers: Readonly<Record<string, string>>): Promise<Buffer> {
    const parts: Buffer[] = [number32(Object.keys(headers).length)];
    for (const [name, value] of Object.entries(headers)) {
      const [key, text] = [Buffer.from(name.toLowerCase()), Buffer.from(value)];
      parts.push(number32(key.length), key, number32(text.length), text);
    }
    return new Promise((resolve) => {
      this.#deflate.write(Buffer.concat(parts));
      this.#deflate.flush(zlib.constants.Z_SYNC_FLUSH, () => resolve((this.#deflate.read() as Buffer | null) ?? Buffer.alloc(0)));
    });
  }

  #take(bytes: Buffer): void {
    this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    while (this.#rest.length >= 8) {
      const length = this.#rest.readUInt32BE(4) & 0xffffff;
      if (this.#rest.length < 8 + length) return;
      const frame = this.#rest.subarray(0, 8 + length);
      this.#rest = this.#rest.subarray(8 + length);
      if (frame[0]! & 0x80) this.#takeControl(frame.readUInt16BE(2), frame[4]!, frame.subarray(8));
      else this.#takeData(frame.readUInt32BE(0) & 0x7fffffff, frame[4]!, frame.subarray(8));
    }
  }

  #takeData(id: number, flags: number, bytes: Buffer): void {
    const stream = this.#streams.get(id);
    if (bytes.length > 0) stream?.emit('data', bytes);
    if (flags & fin) stream?.emit('end');
  }

  #takeControl(kind: number, flags: number, body: Buffer): void {
    if (kind === type.ping) this.#control(type.ping, 0, Buffer.from(body));
    const stream = body.length >= 4 ? this.#streams.get(body.readUInt32BE(0) & 0x7fffffff) : undefined;
    if (kind === type.rstStream) stream?.emit('end');
    if (kind === type.synReply && flags & fin) stream?.emit('end');
  }

  #closeAll(): void {
    for (const stream of this.#streams.values()) {
      stream.emit('close');
      stream.removeAllListeners();
    }
    this.#streams.clear();
    this.#deflate.destroy();
  }
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}
