/**
 * Resizing a pod in place. What it newly asks for is agreed to when the node has room, deferred until it has; what was agreed to is brought to
 * its running containers and its cgroup, or to the next instance of a container that wants to be restarted for it.
 */

import {secondsOf} from '../status/pod-status.ts';
import type {Ends} from './ends.ts';
import {label} from './names.ts';
import {type Instance, isRunning} from './plan.ts';
import {type Condition, type Container, type Pod, type ResourceRequirements, withContainers} from './pod.ts';
import {bytesOf, linuxResources} from './resources.ts';
import {compare, isSameSize, resizable, resizableContainers, Sizes} from './sizes.ts';
import type {Starts} from './starts.ts';
import type {Subject} from './subject.ts';

type ConditionType = 'PodResizePending' | 'PodResizeInProgress';

interface Change {
  container: Container;
  instance: Instance;
  from: ResourceRequirements;
  to: ResourceRequirements;
}

const retryMs = 10_000;
const rejected = 'Pod was rejected: ';

export class Resizes {
  readonly #subject: Subject;
  readonly #ends: Ends;
  readonly #starts: Starts;
  readonly #sizes: Sizes;
  readonly #conditions = new Map<ConditionType, Condition>();
  /** As the source has it, where `subject.pod` is what the node agreed to. */
  #wanted: Pod;

  constructor(subject: Subject, ends: Ends, starts: Starts) {
    this.#subject = subject;
    this.#ends = ends;
    this.#starts = starts;
    this.#wanted = subject.pod;
    this.#sizes = new Sizes(subject.context.volumes.folderOf(subject.uid));
  }

  get conditions(): Condition[] {
    return [...this.#conditions.values()];
  }

  /** It waits for room on the node. */
  get isPending(): boolean {
    return this.#conditions.has('PodResizePending');
  }

  /** A newer specification: the same pod, of the size that was agreed to. */
  take(wanted: Pod): Pod {
    this.#wanted = wanted;
    return this.#sizes.applyTo(wanted, (name) => this.#newest(name));
  }

  /** A pod that another agent began keeps the size that it has. */
  async adopt(): Promise<void> {
    await this.#sizes.load();
    this.#subject.pod = this.take(this.#wanted);
  }

  /** A pod that the node has just taken, as it is. */
  agree(): void {
    this.#sizes.allocate(this.#wanted);
  }

  /** What a running container was last given. */
  actuated(instance: Instance, container: Container): ResourceRequirements {
    return this.#sizes.actuated(instance, container);
  }

  /** A step on the way; when to try again what failed, ms since the epoch. */
  async step(): Promise<number | undefined> {
    await this.#allocate();
    const changes = this.#changes();
    if (changes.length === 0) {
      this.#complete();
      return undefined;
    }
    this.#set('PodResizeInProgress', '', '');
    const [restarts, updates] = [changes.filter(needsRestart), changes.filter((change) => !needsRestart(change))];
    for (const {container, instance} of restarts) this.#restart(container, instance);
    try {
      if (updates.length > 0) await this.#actuate(updates);
    } catch (error) {
      this.#failed((error as Error).message);
      return this.#subject.context.clock.now() + retryMs;
    }
    if (restarts.length === 0) this.#complete();
    return undefined;
  }

  async #allocate(): Promise<void> {
    const subject = this.#subject;
    const wanted = this.#wanted;
    const given = new Map(resizableContainers(subject.pod).map(({name, resources}) => [name, resources]));
    if (resizableContainers(wanted).every(({name, resources}) => isSameSize(resources, given.get(name)))) {
      this.#conditions.delete('PodResizePending');
      return;
    }
    const refusal = subject.context.admit(wanted);
    if (refusal) {
      const message = refusal.message.startsWith(rejected) ? refusal.message.slice(rejected.length) : refusal.message;
      if (this.#set('PodResizePending', 'Deferred', message))
        subject.say('Warning', 'ResizeDeferred', `Pod resize Deferred: ${summary(wanted, message)}`);
      return;
    }
    this.#sizes.allocate(wanted);
    await this.#sizes.save();
    subject.pod = this.take(wanted);
    this.#conditions.clear();
    this.#set('PodResizeInProgress', '', '');
    subject.say('Normal', 'ResizeStarted', `Pod resize started: ${summary(wanted)}`);
  }

  #changes(): Change[] {
    return resizableContainers(this.#subject.pod).flatMap((container) => {
      const instance = this.#newest(container.name);
      // What does not run is made in the right size.
      if (!isRunning(instance)) return [];
      const [from, to] = [this.#sizes.actuated(instance, container), container.resources ?? {}];
      return isSameSize(from, to) ? [] : [{container, instance, from, to}];
    });
  }

  #restart({name}: Container, instance: Instance): void {
    if (this.#ends.isKilling(instance.id)) return;
    // As another container: it is started again whatever it exits with.
    instance.notes.hash = '';
    this.#starts.waiting.set(name, {reason: 'ContainerCreating'});
    this.#ends.kill(instance, `Container ${name} resize requires restart`, this.#subject.graceSeconds);
  }

  async #actuate(changes: readonly Change[]): Promise<void> {
    const {context, pod, view} = this.#subject;
    await this.#checkUsage(changes.filter(({from, to}) => shrinksLimit(from, to)));
    const before = withSizes(pod, changes);
    // What becomes free first, so that at no time more is promised than the pod has.
    const ordered = [...changes].sort((a, b) => compare(a.to, a.from, 'memory') - compare(b.to, b.from, 'memory'));
    await context.cgroups.resize(before, pod, async () => {
      for (const {container, instance, to} of ordered) {
        await context.runtime.updateResources(instance.id, linuxResources(pod, container, context.settings.resources));
        this.#sizes.setActuated(instance, to);
      }
    });
    this.#sizes.forget((id) => view.find(id) !== undefined);
    await this.#sizes.save();
  }

  /** A limit below what is used would end the container at once. */
  async #checkUsage(shrinking: readonly Change[]): Promise<void> {
    if (shrinking.length === 0) return;
    const {context, uid} = this.#subject;
    const stats = await context.runtime.containerStats({[label.podUid]: uid});
    const problems = shrinking.flatMap(({container: {name}, instance, to}) => {
      const limit = bytesOf(to.limits!.memory!);
      const used = stats.find(({attributes}) => attributes.id === instance.id)?.memory?.usageBytes?.value;
      if (used === undefined) return [`missing container ${JSON.stringify(name)} memory usage`];
      if (used < limit) return [];
      return [`attempting to set container ${JSON.stringify(name)} memory limit (${limit}) below current usage (${used})`];
    });
    if (problems.length === 0) return;
    throw new Error(`cannot decrease memory limits: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`);
  }

  #complete(): void {
    if (!this.#conditions.delete('PodResizeInProgress')) return;
    this.#subject.say('Normal', 'ResizeCompleted', `Pod resize completed: ${summary(this.#subject.pod)}`);
  }

  #failed(message: string): void {
    if (this.#set('PodResizeInProgress', 'Error', message))
      this.#subject.say('Warning', 'ResizeError', `Pod resize error: ${summary(this.#subject.pod, message)}`);
  }

  /** Whether there is anything new to say. What failed stays so until it succeeds. */
  #set(type: ConditionType, reason: string, message: string): boolean {
    const {pod, context} = this.#subject;
    const known = this.#conditions.get(type);
    if (known && (reason === '' || (known.reason === reason && known.message === message))) return false;
    const now = secondsOf(context.clock.now());
    const before = known ?? pod.status?.conditions?.find((condition) => condition.type === type);
    this.#conditions.set(type, {
      type,
      ...(this.#wanted.metadata.generation !== undefined && {observedGeneration: this.#wanted.metadata.generation}),
      status: 'True',
      lastProbeTime: now,
      lastTransitionTime: before?.lastTransitionTime && (before.reason ?? '') === reason ? before.lastTransitionTime : now,
      ...(reason && {reason}),
      ...(message && {message}),
    });
    return known?.reason !== reason || known?.message !== message;
  }

  #newest(name: string): Instance | undefined {
    return this.#subject.view.instances.get(name)?.[0];
  }
}

const needsRestart = ({container, from, to}: Change): boolean =>
  resizable.some(
    (name) =>
      compare(to, from, name) !== 0 &&
      container.resizePolicy?.some(({resourceName, restartPolicy}) => resourceName === name && restartPolicy === 'RestartContainer'),
  );

function shrinksLimit(from: ResourceRequirements, to: ResourceRequirements): boolean {
  const [before, after] = [from.limits?.memory, to.limits?.memory];
  return after !== undefined && bytesOf(after) > 0 && (before === undefined || bytesOf(after) < bytesOf(before));
}

/** The pod as it was before these changes. */
function withSizes(pod: Pod, changes: readonly Change[]): Pod {
  return withContainers(pod, (container) => {
    const change = changes.find((entry) => entry.container === container);
    return change ? {...container, resources: change.from} : container;
  });
}

/** As events tell it: every container's resources, and which generation of the pod asked for them. */
function summary({spec, metadata}: Pod, error?: string): string {
  const list = (containers: readonly Container[] | undefined) =>
    containers?.map(({name, resources}) => ({
      name,
      resources: {...sorted('limits', resources?.limits), ...sorted('requests', resources?.requests)},
    }));
  return JSON.stringify({
    ...(spec.initContainers?.length && {initContainers: list(spec.initContainers)}),
    containers: list(spec.containers),
    generation: metadata.generation ?? 0,
    ...(error && {error}),
  });
}

const sorted = (name: string, list: Record<string, string> | undefined) =>
  list && Object.keys(list).length > 0 ? {[name]: Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)))} : {};
