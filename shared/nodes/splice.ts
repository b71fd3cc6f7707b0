/** Two connections made one: bytes both ways, each side as fast as the other takes them. */
import type {Duplex} from 'node:stream';

/**
 * What a side said before it ended is handed on, however slow the other is; a side that is cut off cuts the other. `lingerMs`: how long the one
 * direction goes on when the other has ended; as long as it likes when left out.
 */
export function splice(one: Duplex, other: Duplex, lingerMs?: number): void {
  const linger = (): void => {
    if (lingerMs === undefined || (one.destroyed && other.destroyed)) return;
    setTimeout(() => {
      one.destroy();
      other.destroy();
    }, lingerMs).unref();
  };
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    // Its end will not be told again.
    if (from.destroyed) to.destroy();
    from.pipe(to);
    to.once('finish', linger);
    from.on('error', () => {});
    from.once('close', () => {
      // Its last words may still be on their way; what is said to it now goes nowhere.
      if (from.readableEnded) to.resume();
      else to.destroy();
    });
  }
}
