/**
 * An answer that streams, into the response stream of Lambda. Its head leaves at once, a quiet watch is kept open, and what is written
 * faster than the client takes it waits in the hands of the API.
 */
import type {Clock} from '../../shared/clock.ts';
import type {ApiResponse, PushBody, PushSource} from '../../shared/http/messages.ts';
import {type Head, headOf} from './answer.ts';

/** What is used of Lambda's response stream, a Node Writable. */
export interface ResponseStream {
  write(chunk: Uint8Array | string): boolean;
  end(): unknown;
  on(event: 'drain' | 'finish' | 'error' | 'close', listener: (error?: Error) => void): unknown;
  once(event: 'drain', listener: () => void): unknown;
  readonly destroyed?: boolean;
}

/** Puts the head before the first write. */
export type WithHead = (stream: ResponseStream, head: Head) => ResponseStream;

const pieceBytes = 64 * 1024;
/** The runtime sends a body that follows the head at once together with it, and then may hold both back. */
const headGapMs = 25;
/** The gateway cuts a stream that is silent for five minutes. */
const keepAliveMs = 60_000;
/** A form that has no filler ends by itself before that: its client comes back from where it was. */
const maxSilenceMs = 240_000;

export async function sendStream(
  out: ResponseStream,
  response: ApiResponse,
  withHead: WithHead,
  clock: Clock,
  endsAt = Number.POSITIVE_INFINITY,
): Promise<void> {
  const stream = withHead(out, headOf(response));
  const ended = new Promise<void>((resolve) => {
    for (const event of ['finish', 'error', 'close'] as const) stream.on(event, () => resolve());
  });
  // Without a write the head would wait for the first piece of the body.
  stream.write('');
  const {body} = response;
  if (body === undefined || body instanceof Uint8Array) {
    await writeWhole(stream, body ?? new Uint8Array(0));
    stream.end();
  } else {
    await new Promise<void>((resolve) => void clock.after(headGapMs, resolve));
    await carry(stream, body, response.headers['content-type'], clock, endsAt);
  }
  await ended;
}

async function writeWhole(stream: ResponseStream, body: Uint8Array): Promise<void> {
  for (let at = 0; at < body.length && !stream.destroyed; at += pieceBytes)
    if (!stream.write(body.subarray(at, at + pieceBytes))) await drained(stream);
}

const drained = (stream: ResponseStream): Promise<void> =>
  new Promise((resolve) => {
    stream.once('drain', resolve);
    stream.on('close', () => resolve());
    stream.on('error', () => resolve());
  });

/** What pulls (a log that is followed) ends by itself in time, as if there were no more: the gateway would break it off. */
async function pull(stream: ResponseStream, body: AsyncIterable<Uint8Array>, clock: Clock, endsAt: number): Promise<void> {
  const pieces = body[Symbol.asyncIterator]();
  let cancel = (): void => {};
  const over = new Promise<'over'>((resolve) => {
    cancel = clock.after(endsAt - clock.now(), () => resolve('over'));
    for (const event of ['close', 'error'] as const) stream.on(event, () => resolve('over'));
  });
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), over]);
      if (next === 'over' || next.done) break;
      if (!stream.write(next.value)) await drained(stream);
    }
  } finally {
    cancel();
    // It may be waiting for what never comes.
    void pieces.return?.().catch(() => {});
  }
  stream.end();
}

async function carry(
  stream: ResponseStream,
  body: AsyncIterable<Uint8Array>,
  contentType: unknown,
  clock: Clock,
  endsAt: number,
): Promise<void> {
  if (!('pushTo' in body)) {
    await pull(stream, body, clock, endsAt);
    return;
  }
  const hasFiller = /^application\/json\b/.test(String(contentType));
  let silentMs = 0;
  let cancel = (): void => {};
  const listen = (): void => {
    cancel();
    cancel = clock.after(keepAliveMs, () => {
      silentMs += keepAliveMs;
      if (!hasFiller && silentMs >= maxSilenceMs) return over();
      // A space between two events is nothing to a reader of JSON.
      if (hasFiller) stream.write(' ');
      listen();
    });
  };
  const gone = (): void => {
    cancel();
    source.close();
  };
  const over = (): void => {
    gone();
    stream.end();
  };
  const source: PushSource = (body as PushBody).pushTo({
    write(piece) {
      silentMs = 0;
      listen();
      return stream.write(piece);
    },
    end() {
      cancel();
      stream.end();
    },
  });
  listen();
  stream.on('drain', () => source.drained());
  stream.on('error', gone);
  stream.on('close', gone);
}
