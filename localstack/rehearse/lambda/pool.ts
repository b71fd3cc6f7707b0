/**
 * The execution environments of one function: an invocation takes one that is idle, the one used last first, or starts another; one
 * environment, one invocation at a time. A reservation refuses what is over it; the machine's own limit only lets it wait.
 */
import type {Environment} from './environment.ts';
import {type Answer, FunctionError, type StreamSink} from './runtime-api.ts';
import type {StartGate} from './start-gate.ts';

export interface PoolOptions {
  start(): Environment;
  /** Of the function (AWS: reserved concurrency): above it the answer is Throttled. */
  reserved?: number | undefined;
  /** Environments of this function that this machine bears. */
  most: number;
  gate: StartGate;
}

export class Throttled extends Error {}

export class Pool {
  readonly #options: PoolOptions;
  readonly #idle: Environment[] = [];
  readonly #all = new Set<Environment>();
  readonly #waiting = new Set<() => void>();
  #underway = 0;
  #coldStarts = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get environments(): readonly Environment[] {
    return [...this.#all];
  }

  get coldStarts(): number {
    return this.#coldStarts;
  }

  /** @throws FunctionError, Throttled */
  async invoke(event: Uint8Array, sink?: StreamSink): Promise<Answer> {
    const {reserved} = this.#options;
    if (reserved !== undefined && this.#underway >= reserved) throw new Throttled('Rate Exceeded.');
    this.#underway++;
    try {
      const environment = await this.#take();
      try {
        return await environment.invoke(event, sink);
      } finally {
        // The answer is out; what the runtime still does until it asks again is nobody's wait but the next invocation's.
        void this.#giveBack(environment);
      }
    } finally {
      this.#underway--;
    }
  }

  async #take(): Promise<Environment> {
    for (;;) {
      if (this.#closed) throw new FunctionError('Runtime.ExitError', 'the function is gone');
      const idle = this.#idle.pop();
      if (idle && !idle.dead) return idle;
      if (idle) continue;
      if (this.#all.size < this.#options.most && this.#options.gate.enter()) return this.#start();
      await this.#change();
    }
  }

  async #start(): Promise<Environment> {
    const environment = this.#options.start();
    this.#coldStarts++;
    this.#all.add(environment);
    void environment.gone.then(() => {
      this.#all.delete(environment);
      this.#wakeOne();
    });
    try {
      await environment.ready();
    } finally {
      this.#options.gate.leave();
    }
    return environment;
  }

  /** Something may be there to be taken: an environment, or room for another. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#waiting.delete(wake);
        resolve();
      };
      const cancel = this.#options.gate.onRoom(wake);
      this.#waiting.add(wake);
    });
  }

  #wakeOne(): void {
    for (const wake of this.#waiting) {
      wake();
      return;
    }
  }

  async #giveBack(environment: Environment): Promise<void> {
    await environment.freeze();
    if (environment.dead) return;
    if (this.#closed) environment.kill();
    else this.#idle.push(environment);
    this.#wakeOne();
  }

  /** No more invocations: those under way end by themselves, idle environments at once. */
  retire(): void {
    this.#closed = true;
    for (const environment of this.#idle.splice(0)) environment.kill();
    for (const wake of [...this.#waiting]) wake();
  }

  async close(): Promise<void> {
    this.retire();
    const all = this.environments;
    for (const environment of all) environment.kill();
    await Promise.all(all.map(({gone}) => gone));
  }
}
