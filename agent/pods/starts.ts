/** Starting a pod's containers: which wait and why, which are held because they keep failing, which are up. */
import {ageMs} from '../age.ts';
import type {SandboxConfig} from '../runtime/runtime.ts';
import type {Waiting} from '../status/pod-status.ts';
import {Backoff, goSeconds} from './backoff.ts';
import type {Ends} from './ends.ts';
import {containerHash} from './names.ts';
import {hasExited, type Instance, isRunning, isStillborn} from './plan.ts';
import {allContainers, type Container, fullName} from './pod.ts';
import {PostStartError, StartError, sayAbout, startContainer} from './start.ts';
import type {Subject} from './subject.ts';

export class Starts {
  readonly #subject: Subject;
  readonly #ends: Ends;
  readonly #crashes = new Backoff();
  readonly #held = new Map<string, {since: number; until: number}>();
  /** By name: its postStart hook has not ended yet. */
  readonly #hooked = new Set<string>();
  /** By container name: why it does not run although it should. */
  readonly waiting = new Map<string, Waiting>();

  constructor(subject: Subject, ends: Ends) {
    this.#subject = subject;
    this.#ends = ends;
  }

  isStarted(id: string): boolean {
    const {context, view} = this.#subject;
    return !this.#hooked.has(view.find(id)?.name ?? '') && context.prober.started(id);
  }

  isReady(id: string): boolean {
    return this.isStarted(id) && !this.#ends.isKilling(id) && this.#subject.context.prober.ready(id);
  }

  /** Whatever failed may succeed now; crashes count as before. */
  retry(): void {
    this.#held.clear();
  }

  /** What a container lacked may be there now. */
  referencesChanged(): void {
    for (const [name, waiting] of this.waiting) if (waiting.reason === 'CreateContainerConfigError') this.#held.delete(name);
  }

  /** Held by a failure to start, or because it has ended too often too soon. */
  heldUntil(container: Container, last: Instance | undefined): number | undefined {
    const {context, pod} = this.#subject;
    const {name} = container;
    const now = context.clock.now();
    const held = this.#held.get(name);
    if (held && ageMs(held.since, now) < held.until - held.since) return held.until;
    if (!hasExited(last)) return undefined;
    const finishedAt = last.status.finishedAt / 1e6;
    const backoff = this.#crashes.held(keyOf(container), finishedAt);
    if (!backoff || ageMs(finishedAt, now) >= backoff.delayMs) return undefined;
    const message = `back-off ${goSeconds(backoff.delayMs)} restarting failed container=${name} pod=${fullName(pod)}`;
    if (this.waiting.get(name)?.reason !== 'CrashLoopBackOff')
      sayAbout(context, pod, container)('Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${fullName(pod)}`);
    this.waiting.set(name, {reason: 'CrashLoopBackOff', message});
    return backoff.until;
  }

  /** Resolves when it runs, or when it is known why not. @throws the signal's reason, and what is no fault of the container's */
  async start(start: Parameters<typeof startContainer>[1], volumes: ReadonlyMap<string, string>, config: SandboxConfig): Promise<void> {
    const {context, pod, view, signal, graceSeconds} = this.#subject;
    const {container, kind} = start;
    const {name} = container;
    const last = view.instances.get(name)?.[0];
    if (isStillborn(last)) {
      await context.runtime.removeContainer(last.id);
      view.forget(last.id);
    }
    if (hasExited(last)) this.#crashes.next(keyOf(container), last.status.finishedAt / 1e6);
    if (kind !== 'init' && container.lifecycle?.postStart) this.#hooked.add(name);
    try {
      const input = {pod, sandbox: view.sandboxes[0]!, sandboxConfig: config, view, volumes, signal};
      const id = await startContainer(context, start, input);
      this.waiting.delete(name);
      this.#held.delete(name);
      const instance = view.find(id);
      if (isRunning(instance)) this.#watch(container, instance);
      else await this.#ends.note(instance);
      this.#hooked.delete(name);
      void this.#ends.dropOld(name);
    } catch (error) {
      if (error instanceof PostStartError) {
        const instance = view.find(error.containerId);
        if (instance) await this.#ends.kill(instance, 'FailedPostStartHook', graceSeconds).done;
        await this.#ends.note(view.find(error.containerId));
        this.waiting.set(name, {reason: 'PostStartHookError', message: 'PostStartHook failed'});
        return;
      }
      if (!(error instanceof StartError)) throw error;
      this.waiting.set(name, {reason: error.reason, message: error.message});
      this.#held.set(name, {since: context.clock.now(), until: error.retryAt ?? Number.POSITIVE_INFINITY});
    }
  }

  /** After a restart of the agent: whatever runs is probed again. */
  watchRunning(): void {
    const {pod, view} = this.#subject;
    for (const container of allContainers(pod)) {
      const instance = view.instances.get(container.name)?.[0];
      if (isRunning(instance)) this.#watch(container, instance);
    }
  }

  #watch(container: Container, instance: Instance): void {
    const {context, pod, view} = this.#subject;
    const ip = pod.spec.hostNetwork ? context.hostIps()[0] : view.sandboxes[0]?.ips[0];
    const before = previousStatus(this.#subject, container.name);
    const same = before?.containerID?.endsWith(instance.id) ?? false;
    context.prober.watch(pod, container, instance, ip, same && before!.ready, same && before!.started === true);
  }
}

const keyOf = (container: Container): string => `${container.name}/${containerHash(container)}`;

function previousStatus({pod: {status}}: Subject, name: string) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find((entry) => entry.name === name);
}
