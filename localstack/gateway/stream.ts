/**
 * Carries an endless answer (a watch) to a client. A slow client costs what the socket buffers and nothing more: what happens to a
 * subscriber that falls behind is decided by the API, not here.
 */
import type {PushBody} from '../../shared/http/messages.ts';

/** What an HTTP/1 response and an HTTP/2 stream have in common. */
export interface Sink {
  write(chunk: Uint8Array): boolean;
  end(): unknown;
  on(event: 'drain' | 'close', listener: () => void): unknown;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  removeListener(event: 'drain' | 'close', listener: () => void): unknown;
  readonly destroyed: boolean;
}

const pushes = (body: AsyncIterable<Uint8Array>): body is PushBody => 'pushTo' in body;

/** Resolves when the body is in hands that need no more help, or when the client is gone. */
export function carry(body: AsyncIterable<Uint8Array>, sink: Sink): Promise<void> | undefined {
  if (!pushes(body)) return pump(body, sink);
  const source = body.pushTo({
    write: (piece) => sink.destroyed || sink.write(piece),
    end: () => {
      if (!sink.destroyed) sink.end();
    },
  });
  sink.on('drain', () => source.drained());
  sink.once('close', () => source.close());
  if (sink.destroyed) source.close();
  return undefined;
}

/**
 * Pulls the next piece only when the last one was taken. In the end the iterator has been closed. A body that breaks is not ended: half of an
 * answer must not look like a whole one, so whoever hears of the error cuts the client off.
 */
export async function pump(body: AsyncIterable<Uint8Array>, sink: Sink): Promise<void> {
  const iterator = body[Symbol.asyncIterator]();
  let leave: (() => void) | undefined;
  // A watch that is waiting for its next event must learn of a disconnect from somewhere else than the write that never comes.
  const onClose = (): void => {
    leave?.();
    void iterator.return?.();
  };
  sink.once('close', onClose);
  let isWhole = false;
  try {
    while (!sink.destroyed) {
      const next = await iterator.next();
      if (next.done) {
        isWhole = true;
        break;
      }
      if (sink.destroyed) break;
      if (!sink.write(next.value)) {
        await new Promise<void>((resolve) => {
          if (sink.destroyed) return resolve();
          leave = resolve;
          sink.once('drain', resolve);
        });
        if (leave) sink.removeListener('drain', leave);
        leave = undefined;
      }
    }
  } finally {
    sink.removeListener('close', onClose);
    if (sink.destroyed) await iterator.return?.();
    else if (isWhole) sink.end();
  }
}
