/** What the clients need of a transport; node/ has one over Node's own HTTP. */

export interface Request {
  method: string;
  /** With its query. */
  path: string;
  /** By lower-case name. */
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | undefined;
  signal?: AbortSignal | undefined;
  /** The answer may take for ever: it must not keep others from being sent, nor be given up for being quiet. */
  endless?: boolean;
  /** How long the server may be silent, before the answer and within it. Not of endless ones. */
  timeoutMs?: number | undefined;
}

export interface Reply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read it to its end, or `discard` it. */
  body: AsyncIterable<Uint8Array>;
  discard(): void;
}

export interface Connection {
  /** Without a slash at its end. */
  readonly url: string;
  /** Resolves with the head of the answer. @throws Error when there is none */
  send(request: Request): Promise<Reply>;
  close(): void;
}

/** The whole body. */
export async function collect(reply: Reply): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.body) chunks.push(chunk);
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
