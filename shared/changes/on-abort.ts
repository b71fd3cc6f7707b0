/** One listener on a signal for everybody who waits for it: a thousand watches share the server's drain, and Node warns from eleven on. */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back once when the signal aborts; for one that has, in a later turn. The returned function cancels. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = waiting.get(signal);
  if (!callbacks) {
    const all = new Set<() => void>();
    callbacks = all;
    waiting.set(signal, all);
    signal.addEventListener('abort', () => callAll(all), {once: true});
  }
  callbacks.add(callback);
  const known = callbacks;
  if (signal.aborted) queueMicrotask(() => callAll(known));
  return () => known.delete(callback);
}

function callAll(callbacks: Set<() => void>): void {
  for (const callback of [...callbacks]) if (callbacks.delete(callback)) callback();
}
