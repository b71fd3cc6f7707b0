/** Work by the clock: a round every so often, never two at once, until it is stopped. A round that fails is told, and the next one comes. */
import type {Log} from '../api.ts';
import type {Clock} from '../clock.ts';

export abstract class Rounds {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #name: string;
  readonly #intervalMs: number;
  #cancel: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor({clock, log}: {clock: Clock; log: Log}, name: string, intervalMs: number) {
    this.#clock = clock;
    this.#log = log;
    this.#name = name;
    this.#intervalMs = intervalMs;
  }

  /** One round. */
  abstract run(): Promise<void>;

  start(): void {
    this.#cancel = this.#clock.after(this.#intervalMs, () => {
      this.#running = this.run()
        .catch((error: unknown) => this.#log.warn({error: String(error)}, `${this.#name} will be tried again`))
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#running;
  }
}
