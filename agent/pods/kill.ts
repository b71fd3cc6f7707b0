/**
 * Ending one container: preStop, its turn, its stop signal, and KILL when the grace is over. A second request with less grace shortens the
 * first.
 */

import {containerState} from '../runtime/runtime.ts';
import type {PodContext} from './context.ts';
import {runHook} from './hooks.ts';
import type {Instance} from './plan.ts';
import type {Pod} from './pod.ts';
import {sayAbout} from './start.ts';

/** Whatever was used up before it, or was never given: enough for the signal to be heard. */
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
  #over = false;
  #look = () => {};
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
    turn?: Promise<unknown>,
  ) {
    this.#context = context;
    this.#pod = pod;
    this.#instance = instance;
    this.#ip = ip;
    this.#deadline = context.clock.now() + graceSeconds * 1000;
    sayAbout(context, pod, instance)('Normal', 'Killing', message);
    this.done = this.#run(graceSeconds, turn).then(settled);
  }

  /** The runtime has been asked, and its answer is being waited for. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  /** It has ended by itself: a hook for it is no longer worth the time. */
  ended(): void {
    this.#over = true;
    this.#hurry.abort(new Error('it has ended'));
    this.#look();
  }

  shorten(graceSeconds: number): void {
    const deadline = this.#context.clock.now() + graceSeconds * 1000;
    if (deadline >= this.#deadline) return;
    this.#deadline = deadline;
    this.#hurry.abort(new Error('less time'));
    this.#look();
    if (this.#stopping)
      void this.#context.runtime.stopContainer(this.#instance.id, Math.max(leastStopSeconds, graceSeconds)).catch(() => {});
  }

  async #run(graceSeconds: number, turn: Promise<unknown> | undefined): Promise<void> {
    const {preStop} = this.#instance.notes;
    if (preStop && graceSeconds > 0) await this.#preStop(preStop, graceSeconds);
    if (turn) await this.#await(turn);
    this.#stopping = true;
    for (let pauseMs = firstRetryMs; ; pauseMs = Math.min(pauseMs * 2, longestRetryMs)) {
      // Never more than was given, though the clock was set back.
      const left = Math.min(graceSeconds, (this.#deadline - this.#context.clock.now()) / 1000);
      const seconds = Math.max(leastStopSeconds, left);
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

  /** Others go first, as long as there is time. */
  async #await(turn: Promise<unknown>): Promise<void> {
    let isHere = false;
    const come = () => {
      isHere = true;
      this.#look();
    };
    turn.then(come, come);
    for (;;) {
      const leftMs = this.#deadline - this.#context.clock.now();
      if (isHere || this.#over || leftMs <= 0) return;
      let cancel = () => {};
      await new Promise<void>((resolve) => {
        this.#look = resolve;
        cancel = this.#context.clock.after(leftMs, resolve);
      });
      cancel();
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
