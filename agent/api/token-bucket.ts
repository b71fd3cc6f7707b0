/** So many a second, with a burst; who waits is served by priority and then in order. */
import type {Clock} from '../../shared/clock.ts';

export type Priority = 'high' | 'normal' | 'low';

interface Waiter {
  priority: Priority;
  go: () => void;
}

const order: readonly Priority[] = ['high', 'normal', 'low'];

export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;
  #waiting: Waiter[] = [];
  #timer: (() => void) | undefined;

  constructor(perSecond: number, burst: number, clock: Clock) {
    this.#perMs = perSecond / 1000;
    this.#burst = Math.max(1, burst);
    this.#clock = clock;
    this.#tokens = this.#burst;
    this.#filledAt = clock.now();
  }

  /** Whether there was one; never waits. */
  tryTake(): boolean {
    this.#fill();
    if (this.#waiting.length > 0 || this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** @throws the signal's reason when it is given up */
  take(priority: Priority = 'normal', signal?: AbortSignal): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {priority, go: resolve};
      const giveUp = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        reject(signal!.reason);
      };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', giveUp, {once: true});
      waiter.go = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      this.#waiting.push(waiter);
      this.#schedule();
    });
  }

  #fill(): void {
    const now = this.#clock.now();
    // A clock that was set back must not stop the bucket.
    const elapsed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsed * this.#perMs);
    this.#filledAt = now;
  }

  #schedule(): void {
    if (this.#timer || this.#waiting.length === 0) return;
    const wait = Math.max(1, Math.ceil((1 - this.#tokens) / this.#perMs));
    this.#timer = this.#clock.after(wait, () => {
      this.#timer = undefined;
      this.#fill();
      while (this.#tokens >= 1 && this.#waiting.length > 0) {
        this.#tokens -= 1;
        this.#next().go();
      }
      this.#schedule();
    });
  }

  #next(): Waiter {
    for (const priority of order) {
      const at = this.#waiting.findIndex((waiter) => waiter.priority === priority);
      if (at >= 0) return this.#waiting.splice(at, 1)[0]!;
    }
    throw new Error('nobody waits');
  }
}
