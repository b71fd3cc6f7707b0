/** Time as an argument: production code takes a Clock, tests hand in one that they move themselves. */
export interface Clock {
  /** Wall time in ms since the epoch. */
  now(): number;
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, callback) {
    // Node fires at once when the delay overflows 32 bits: cap it, nothing here waits for 24 days.
    const timer = setTimeout(callback, Math.min(ms, 0x7fffffff));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until it is told to move; due callbacks run in order of their time. */
export class ManualClock implements Clock {
  #now: number;
  #waiting: {at: number; callback: () => void}[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const entry = {at: this.#now + ms, callback};
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#waiting.filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#waiting = this.#waiting.filter((entry) => entry !== next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
  }
}
