/** What a load client needs of a protocol: one request at a time for each connection, and a watch's lines as they come. */

export interface Answer {
  status: number;
  /** Empty unless `keep` was asked for, or the request failed. */
  body: Buffer;
}

export interface Connection {
  request(method: string, path: string, body?: Buffer, keep?: boolean): Promise<Answer>;
  /** Resolves when the watch is open; the connection does nothing else from then on (HTTP/2: goes on). */
  watch(path: string, onLine: (line: Buffer) => void): Promise<void>;
  close(): void;
}

export interface Target {
  url: string;
  token: string;
  protocol: 'h1' | 'h2';
  /** Accept compressed answers. They are not unpacked. */
  gzip: boolean;
}

/** Cuts what arrives into lines. */
export function lines(onLine: (line: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer | undefined;
  return (chunk) => {
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, at)) {
      onLine(bytes.subarray(at, end));
      at = end + 1;
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined;
  };
}
