/** The other side of a SPDY connection, for tests: reads frames as a runtime's streaming server does, and writes whatever it is told to. */
import type {Duplex} from 'node:stream';
import zlib from 'node:zlib';
import {dictionary} from './spdy-dictionary.ts';

export interface Frame {
  /** Of a control frame; a data frame has none. */
  kind?: number;
  stream: number;
  flags: number;
  body: Buffer;
  /** Of the frame that opens a stream. */
  headers?: Record<string, string>;
}

export const control = (kind: number, body: Buffer, flags = 0): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(kind, 2);
  head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
  return Buffer.concat([head, body]);
};

export const data = (stream: number, text: string | Buffer, flags = 0): Buffer => {
  const body = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(stream, 0);
  head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
  return Buffer.concat([head, body]);
};

export const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const fin = 1;

/** Calls back with each frame that comes; header blocks are inflated as one stream. */
export function readFrames(socket: Duplex, onFrame: (frame: Frame) => void): void {
  const inflate = zlib.createInflate({dictionary});
  let rest = Buffer.alloc(0);
  let turn = Promise.resolve();
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const length = rest.length >= 8 ? 8 + (rest.readUInt32BE(4) & 0xffffff) : Number.POSITIVE_INFINITY;
      if (rest.length < length) return;
      const whole = rest.subarray(0, length);
      rest = rest.subarray(length);
      turn = turn.then(async () => onFrame(await parse(whole, inflate)));
    }
  });
}

async function parse(bytes: Buffer, inflate: zlib.Inflate): Promise<Frame> {
  const [flags, body] = [bytes[4]!, bytes.subarray(8)];
  if (!(bytes[0]! & 0x80)) return {stream: bytes.readUInt32BE(0), flags, body};
  const kind = bytes.readUInt16BE(2);
  const frame: Frame = {kind, stream: body.length >= 4 ? body.readUInt32BE(0) : 0, flags, body};
  if (kind === 1) frame.headers = await headersOf(body.subarray(10), inflate);
  return frame;
}

function headersOf(block: Buffer, inflate: zlib.Inflate): Promise<Record<string, string>> {
  return new Promise((resolve) => {
    inflate.write(block, () => {
      const plain = inflate.read() as Buffer;
      const headers: Record<string, string> = {};
      let at = 4;
      const next = (): string => {
        const length = plain.readUInt32BE(at);
        at += 4 + length;
        return plain.toString('utf8', at - length, at);
      };
      for (let left = plain.readUInt32BE(0); left > 0; left--) headers[next()] = next();
      resolve(headers);
    });
  });
}
