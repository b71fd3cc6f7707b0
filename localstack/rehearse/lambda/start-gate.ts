/**
 * How many environments may start at a time: a region has a processor for each, a machine shares its own. Who would start another waits
 * here, or takes what comes free meanwhile.
 */
export class StartGate {
  readonly #most: number;
  #starting = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Must be left again when it lets in. */
  enter(): boolean {
    if (this.#starting >= this.#most) return false;
    this.#starting++;
    return true;
  }

  leave(): void {
    this.#starting--;
    for (const wake of this.#waiting) wake();
  }

  /** Calls back whenever there may be room; the returned function cancels. */
  onRoom(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}
