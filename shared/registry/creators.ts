/**
 * Who is creating something in a namespace right now. A creator asks whether the namespace takes new content and writes a while later;
 * a deletion that comes between must wait for that write, or it would be left in a namespace that is not there. Knows this process only.
 */
export class Creators {
  readonly #running = new Map<string, Set<Promise<unknown>>>();

  /** `work` begins before the namespace is asked and ends after the write. */
  run<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    const running = work();
    const others = this.#running.get(namespace) ?? new Set();
    this.#running.set(namespace, others);
    others.add(running);
    const done = (): void => {
      others.delete(running);
      if (others.size === 0) this.#running.delete(namespace);
    };
    running.then(done, done);
    return running;
  }

  /** Those who are at it now have written or failed; whoever comes later sees what the caller has seen. */
  async settled(namespace: string): Promise<void> {
    await Promise.allSettled(this.#running.get(namespace) ?? []);
  }
}
