/** A pod's sandbox over time: made, made again after a while when that fails, taken down when another has to take its place. */
import {ageMs} from '../age.ts';
import type {SandboxConfig} from '../runtime/runtime.ts';
import {Backoff} from './backoff.ts';
import type {Ends} from './ends.ts';
import {configureSandbox, makeSandbox} from './sandbox.ts';
import type {Subject} from './subject.ts';

const retry = {firstMs: 1000, longestMs: 30_000};

export class Sandboxes {
  readonly #subject: Subject;
  readonly #backoff = new Backoff(retry);
  #held: {since: number; until: number} | undefined;
  #config: SandboxConfig | undefined;

  constructor(subject: Subject) {
    this.#subject = subject;
  }

  /** What containers are created against. Of a sandbox that an agent before this one made it is worked out again. */
  async config(): Promise<SandboxConfig> {
    const {context, pod, view, warn} = this.#subject;
    this.#config ??= await configureSandbox(context, pod, view.sandboxes[0]!.attempt, warn);
    return this.#config;
  }

  /** When to try again, ms since the epoch; undefined: it is there. @throws the signal's reason when the pod is to end */
  async make(attempt: number): Promise<number | undefined> {
    const {context, pod, view, uid, signal, warn} = this.#subject;
    if (this.#held && ageMs(this.#held.since, context.clock.now()) < this.#held.until - this.#held.since) return this.#held.until;
    try {
      const made = await context.starts.use(() => {
        signal.throwIfAborted();
        return makeSandbox(context, pod, attempt, warn);
      });
      this.#config = made.config;
      view.sandboxes = [made.view, ...view.sandboxes];
      this.#backoff.forget(uid);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      const failedAt = context.clock.now();
      this.#backoff.next(uid, failedAt);
      this.#held = {since: failedAt, until: this.#backoff.held(uid, failedAt)!.until};
      warn('FailedCreatePodSandBox', `Failed to create pod sandbox: ${(error as Error).message}`);
      return this.#held.until;
    }
  }

  /** Of those that were replaced, what holds no container any more. */
  async removeOld(): Promise<void> {
    const {context, view} = this.#subject;
    const used = new Set([...view.all()].map(({sandboxId}) => sandboxId));
    for (const {id} of view.sandboxes.slice(1).filter(({id, ready}) => !ready && !used.has(id))) {
      await context.runtime.removeSandbox(id);
      view.sandboxes = view.sandboxes.filter((sandbox) => sandbox.id !== id);
    }
  }

  /** What failed may succeed now. */
  retry(): void {
    this.#held = undefined;
    this.#backoff.forget(this.#subject.uid);
  }

  /** Ends what runs in them first. */
  async clear(ends: Ends): Promise<void> {
    const {context, view, graceSeconds} = this.#subject;
    if (view.sandboxes.length > 0) this.#subject.say('Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    await Promise.all(view.running().map((instance) => ends.kill(instance, `Stopping container ${instance.name}`, graceSeconds).done));
    for (const {id} of view.sandboxes) await context.runtime.stopSandbox(id);
    for (const instance of view.running()) await view.refresh(instance.id);
  }
}
