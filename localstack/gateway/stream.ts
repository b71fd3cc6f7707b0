/**
 * Carries an endless answer (a watch) to a client: pulls the next piece only when the last one was taken, so a slow client costs
 * what the socket buffers and nothing more. What happens to a subscriber that falls behind is decided by the API, not here.
 */

/** What an HTTP/1 response and an HTTP/2 stream have in common. */
export interface Sink {
  write(chunk: Uint8Array): boolean;
  end(): unknown;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  removeListener(event: 'drain' | 'close', listener: () => void): unknown;
  readonly destroyed: boolean;
}

/** Resolves when the last piece is handed over, or when the client is gone; in either case the iterator has been closed. */
export async function pump(body: AsyncIterable<Uint8Array>, sink: Sink): Promise<void> {
  const iterator = body[Symbol.asyncIterator]();
  let leave: (() => void) | undefined;
  // A watch that is waiting for its next event must learn of a disconnect from somewhere else than the write that never comes.
  const onClose = (): void => {
    leave?.();
    void iterator.return?.();
  };
  sink.once('close', onClose);
  try {
    while (!sink.destroyed) {
      const next = await iterator.next();
      if (next.done) break;
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
    else sink.end();
  }
}
