/** How long to hold what keeps failing: doubling from a first delay to a longest, forgotten after a while without failure. By key. */
export interface BackoffOptions {
  firstMs: number;
  longestMs: number;
}

export const crashBackoff: BackoffOptions = {firstMs: 10_000, longestMs: 300_000};

interface Entry {
  delayMs: number;
  /** Of the failure that the delay counts from. */
  since: number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: BackoffOptions = crashBackoff) {
    this.#options = options;
  }

  /** Another try is about to be made, for a thing that failed at `failedAt`: the delay before the one after it. */
  next(key: string, failedAt: number): void {
    const {firstMs, longestMs} = this.#options;
    const entry = this.#entries.get(key);
    const fresh = !entry || failedAt - entry.since > 2 * longestMs;
    this.#entries.set(key, {delayMs: fresh ? firstMs : Math.min(entry.delayMs * 2, longestMs), since: failedAt});
  }

  /** Until when a thing that failed at `failedAt` is held, and by how long a delay. */
  held(key: string, failedAt: number): {until: number; delayMs: number} | undefined {
    const entry = this.#entries.get(key);
    return entry && {until: failedAt + entry.delayMs, delayMs: entry.delayMs};
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}

/** As Go prints a duration of whole seconds: `10s`, `2m40s`, `5m0s`. */
export function goSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
