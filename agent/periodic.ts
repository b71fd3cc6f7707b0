/** Work that comes again a while after it was done, never twice at once, and keeps no process alive. Whoever gives it sees to its errors. */
export function periodically(everyMs: number, work: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout;
  let stopped = false;
  const next = () => {
    if (stopped) return;
    timer = setTimeout(() => void work().finally(next), everyMs);
    timer.unref();
  };
  next();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
