/** Work by key for a reconciler: a key is worked on by one at a time, again when it was added meanwhile, later when it failed. */
import type {Log} from '../api.ts';
import type {Clock} from '../clock.ts';

const firstBackoffMs = 20;
const maxBackoffMs = 30_000;
const usualParallel = 4;

export class Queue {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #name: string;
  readonly #work: (key: string) => Promise<number | undefined>;
  readonly #parallel: number;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, () => void>();
  #stopped = false;

  /** `work` returns after how many ms the key is due again, or undefined when it is done. */
  constructor(clock: Clock, log: Log, name: string, work: (key: string) => Promise<number | undefined>, parallel = usualParallel) {
    this.#clock = clock;
    this.#log = log;
    this.#name = name;
    this.#work = work;
    this.#parallel = parallel;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    this.#waiting.add(key);
    // Not within the caller: it may hold the store's delivery.
    queueMicrotask(() => this.#next());
  }

  addAfter(key: string, ms: number): void {
    if (this.#stopped || this.#waiting.has(key)) return;
    this.#timers.get(key)?.();
    this.#timers.set(
      key,
      this.#clock.after(ms, () => {
        this.#timers.delete(key);
        this.add(key);
      }),
    );
  }

  /** Resolves when nothing is left that could be done now; true when all of it succeeded, false when `signal` came first. */
  async settled(signal: AbortSignal): Promise<boolean> {
    while (this.#waiting.size > 0 || this.#running.size > 0 || this.#failures.size > 0) {
      if (signal.aborted) return false;
      const due = new Promise<void>((resolve) => void this.#clock.after(firstBackoffMs, resolve));
      await (this.#running.size > 0 ? Promise.race(this.#running.values()) : due);
    }
    return true;
  }

  /** No new work is begun; what runs is waited for. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#waiting.clear();
    await Promise.all(this.#running.values());
  }

  #next(): void {
    for (const key of this.#waiting) {
      if (this.#stopped || this.#running.size >= this.#parallel) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.set(
        key,
        this.#run(key).finally(() => {
          this.#running.delete(key);
          this.#next();
        }),
      );
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const again = await this.#work(key);
      this.#failures.delete(key);
      if (again !== undefined) this.addAfter(key, again);
    } catch (error) {
      if (this.#stopped) return;
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      this.#log.warn({controller: this.#name, key, error: String(error)}, 'will be tried again');
      this.addAfter(key, Math.min(firstBackoffMs * 2 ** failures, maxBackoffMs));
    }
  }
}
