/** Ending one container: preStop, its stop signal, and KILL when the grace is over. A second request with less grace shortens the first. */

import {containerState} from '../runtime/runtime.ts';
import type {PodContext} from './context.ts';
import {runHook} from './hooks.ts';
import type {Instance} from './plan.ts';
import type {Pod} from './pod.ts';
import {sayAbout} from './start.ts';

/** After a hook that used up the grace: enough for the signal to be heard. */
const leastStopSeconds = 2;
const firstRetryMs = 200;
const longestRetryMs = 5000;

export class Kill {
  readonly #context: PodContext;
  readonly #pod: Pod;
  readonly #instance: Instance;
  readonly #ip: string | undefined;
  readonly #hurry = new AbortController();
  #deadline: number;
  #stopping = false;
  /** When the container has ended and `settled` has run. Never rejects for long: it is tried until it has. */
  readonly done: Promise<void>;

  constructor(
    context: PodContext,
    pod: Pod,
    instance: Instance,
    ip: string | undefined,
    message: string,
    graceSeconds: number,
    settled: () => Promise<void>,
  ) {
    this.#context = context;
    this.#pod = pod;
    this.#instance = instance;
    this.#ip = ip;
    this.#deadline = context.clock.now() + graceSeconds * 1000;
    sayAbout(context, pod, instance)('Normal', 'Killing', message);
    this.done = this.#run(graceSeconds).then(settled);
  }

  /** The runtime has been asked, and its answer is being waited for. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  /** It has ended by itself: a hook for it is no longer worth the time. */
  ended(): void {
    this.#hurry.abort(new Error('it has ended'));
  }

  shorten(graceSeconds: number): void {
    const deadline = this.#context.clock.now() + graceSeconds * 1000;
    if (deadline >= this.#deadline) return;
    this.#deadline = deadline;
    this.#hurry.abort(new Error('less time'));
    if (this.#stopping) void this.#context.runtime.stopContainer(this.#instance.id, graceSeconds).catch(() => {});
  }

  async #run(graceSeconds: number): Promise<void> {
    const {preStop} = this.#instance.notes;
    if (preStop && graceSeconds > 0) await this.#preStop(preStop, graceSeconds);
    this.#stopping = true;
    for (let pauseMs = firstRetryMs; ; pauseMs = Math.min(pauseMs * 2, longestRetryMs)) {
      // Never more than was given, though the clock was set back.
      const left = Math.max(0, Math.min(graceSeconds, (this.#deadline - this.#context.clock.now()) / 1000));
      const seconds = preStop && graceSeconds > 0 ? Math.max(leastStopSeconds, left) : left;
      try {
        await this.#context.runtime.stopContainer(this.#instance.id, seconds);
        return;
      } catch (error) {
        // A shim that ends while it is asked breaks off the answer: its container has ended all the same.
        if (await this.#hasEnded()) return;
        this.#context.log.error(`cannot stop container ${this.#instance.id}`, error);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async #hasEnded(): Promise<boolean> {
    try {
      const status = await this.#context.runtime.containerStatus(this.#instance.id);
      return status === undefined || status.state === containerState.exited;
    } catch {
      return false;
    }
  }

  async #preStop(handler: NonNullable<Instance['notes']['preStop']>, graceSeconds: number): Promise<void> {
    const {id, name, notes} = this.#instance;
    const timer = setTimeout(() => this.#hurry.abort(new Error('grace is over')), graceSeconds * 1000);
    try {
      await runHook(this.#context.runtime, handler, {containerId: id, ip: this.#ip, ports: notes.ports}, graceSeconds, this.#hurry.signal);
    } catch (error) {
      if (this.#hurry.signal.aborted) return;
      this.#context.log.warn(`preStop of ${name}: ${(error as Error).message}`);
      sayAbout(this.#context, this.#pod, {name})('Warning', 'FailedPreStopHook', 'PreStopHook failed');
    } finally {
      clearTimeout(timer);
    }
  }
}
