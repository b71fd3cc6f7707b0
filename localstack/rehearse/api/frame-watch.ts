/** Follows the frame headers of a client's WebSocket bytes: API Gateway closes a connection over a frame that is too long, whatever the message. */
export class FrameWatch {
  readonly #limit: number;
  #header = Buffer.alloc(0);
  /** Of the frame's payload, still to come. */
  #skip = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether all frames so far keep the limit. */
  push(piece: Buffer): boolean {
    let rest = piece;
    while (rest.length > 0) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, rest.length);
        this.#skip -= skipped;
        rest = rest.subarray(skipped);
        continue;
      }
      const have = this.#header.length;
      const joined = Buffer.concat([this.#header, rest.subarray(0, 14)]);
      const need = headerLength(joined);
      if (need === undefined || joined.length < need) {
        this.#header = joined;
        return true;
      }
      const payload = payloadLength(joined);
      if (payload > this.#limit) return false;
      rest = rest.subarray(need - have);
      this.#header = Buffer.alloc(0);
      this.#skip = payload;
    }
    return true;
  }
}

function headerLength(bytes: Buffer): number | undefined {
  const second = bytes[1];
  if (second === undefined) return undefined;
  const short = second & 0x7f;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (second & 0x80 ? 4 : 0);
}

function payloadLength(header: Buffer): number {
  const short = header[1]! & 0x7f;
  if (short === 126) return header.readUInt16BE(2);
  return short === 127 ? Number(header.readBigUInt64BE(2)) : short;
}
