/**
 * Controllers react to configuration, such as a namespace that is to go, and requests alone bring that up to date where other processes
 * write as well. So that a server nobody asks anything still does its part, this asks now and then.
 */
import type {Log} from '../api.ts';
import type {Clock} from '../clock.ts';
import type {Store} from '../storage/contract.ts';

const intervalMs = 2_000;

export class ConfigurationFollower {
  readonly #options: {store: Store; clock: Clock; log: Log};
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(options: {store: Store; clock: Clock; log: Log}) {
    this.#options = options;
  }

  /** A store that this process owns tells by itself. */
  start(): void {
    const {store, clock, log} = this.#options;
    if (!store.begin || this.#stopped) return;
    const ask = async (): Promise<void> => {
      try {
        await store.begin?.({});
      } catch (error) {
        log.debug({error: String(error)}, 'configuration will be asked for again');
      }
      if (!this.#stopped) this.#cancel = clock.after(intervalMs, () => void ask());
    };
    this.#cancel = clock.after(intervalMs, () => void ask());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }
}
