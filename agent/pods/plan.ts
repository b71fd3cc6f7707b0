/**
 * What to do next for a pod: a pure function of what is wanted, what the runtime has, and what failed lately. The worker carries it out and
 * asks again; nothing is remembered between two answers.
 */
import {type ContainerStatus, containerState} from '../runtime/runtime.ts';
import {type ContainerKind, type ContainerNotes, containerHash} from './names.ts';
import {type Container, isSidecar, type Pod} from './pod.ts';
import {policyOf, restartsAfter} from './restarts.ts';

/** One container in the runtime. A name can have several: the newest counts, the one before it is its last state. */
export interface Instance {
  id: string;
  name: string;
  sandboxId: string;
  notes: ContainerNotes;
  status: ContainerStatus;
}

export interface SandboxView {
  id: string;
  attempt: number;
  ready: boolean;
  ips: string[];
}

export interface Observed {
  /** Newest first. */
  sandboxes: readonly SandboxView[];
  /** By container name, newest first. */
  instances: ReadonlyMap<string, readonly Instance[]>;
}

export interface Health {
  /** Verdict of a failed liveness or startup probe on this very instance: the words, and the probe's own grace. */
  unhealthy(id: string): {message: string; graceSeconds?: number} | undefined;
  /** Its startup probe has succeeded, and its postStart hook has run. */
  started(id: string): boolean;
}

export interface PlanInput {
  pod: Pod;
  observed: Observed;
  health: Health;
  /** Not before then, per container: back-off, and what keeps failing. */
  heldUntil(container: Container, last: Instance | undefined): number | undefined;
  now: number;
}

export interface Kill {
  instance: Instance;
  message: string;
  graceSeconds?: number;
}

export interface Plan {
  /** Everything in the present sandbox has to go first. */
  replaceSandbox: boolean;
  /** The attempt of the sandbox to make, when one is needed. */
  sandboxAttempt?: number;
  kill: Kill[];
  start: {container: Container; kind: ContainerKind; restarts: number}[];
  /** Nothing runs and nothing will: the pod has ended, its sandbox may go. */
  done: boolean;
  /** When to ask again though nothing has happened. */
  wakeAt?: number;
}

export const kindOf = (pod: Pod, container: Container): ContainerKind => {
  if (pod.spec.initContainers?.includes(container)) return isSidecar(container) ? 'sidecar' : 'init';
  return pod.spec.ephemeralContainers?.includes(container) ? 'ephemeral' : 'app';
};

export const isRunning = (instance: Instance | undefined): instance is Instance => instance?.status.state === containerState.running;
/** Made but never started: whoever made it was interrupted. Another takes its place, and that is no restart. */
export const isStillborn = (instance: Instance | undefined): instance is Instance => instance?.status.state === containerState.created;
export const hasExited = (instance: Instance | undefined): instance is Instance => instance?.status.state === containerState.exited;
const succeeded = (instance: Instance | undefined): boolean => hasExited(instance) && instance.status.exitCode === 0;

export function plan(input: PlanInput): Plan {
  const {pod, observed} = input;
  const result: Plan = {replaceSandbox: false, kill: [], start: [], done: false};
  const newest = (name: string): Instance | undefined => observed.instances.get(name)?.[0];
  const {initContainers: init = [], containers} = pod.spec;

  if (hasEnded(pod, newest)) {
    for (const container of [...init].reverse()) endSidecar(container, newest, result);
    result.done = result.kill.length === 0;
    return result;
  }
  const [sandbox] = observed.sandboxes;
  if (!sandbox?.ready) {
    result.sandboxAttempt = (sandbox?.attempt ?? -1) + 1;
    result.replaceSandbox = sandbox !== undefined || [...observed.instances.values()].some(([instance]) => isRunning(instance));
    return result;
  }
  const here = (name: string): Instance | undefined => {
    const found = newest(name);
    return found?.sandboxId === sandbox.id ? found : undefined;
  };
  // Their results stand as long as the sandbox: a new one starts from the first again.
  const begun = containers.some(({name}) => here(name));
  if (!planInit(input, init, here, newest, begun, result)) return withEphemeral(input, here, result);
  for (const container of containers) planContainer(input, container, 'app', here(container.name), newest(container.name), result);
  return withEphemeral(input, here, result);
}

/** Whether app containers may start. Init containers run one at a time, in order; a sidecar need only have started. */
function planInit(
  input: PlanInput,
  init: readonly Container[],
  here: (name: string) => Instance | undefined,
  newest: (name: string) => Instance | undefined,
  begun: boolean,
  result: Plan,
): boolean {
  for (const container of init) {
    const instance = here(container.name);
    if (isSidecar(container)) {
      planContainer(input, container, 'sidecar', instance, newest(container.name), result);
      const up = isRunning(instance) && input.health.started(instance.id);
      if (!up && !begun) return false;
      continue;
    }
    if (begun || succeeded(instance)) continue;
    if (isRunning(instance)) killIfUnhealthy(input, container, instance, result);
    else planContainer(input, container, 'init', instance, newest(container.name), result);
    return false;
  }
  return true;
}

function planContainer(
  input: PlanInput,
  container: Container,
  kind: ContainerKind,
  instance: Instance | undefined,
  last: Instance | undefined,
  result: Plan,
): void {
  if (isRunning(instance)) {
    killIfUnhealthy(input, container, instance, result);
    return;
  }
  if (hasExited(instance) && !mayRestart(input.pod, container, kind, instance)) return;
  // What an app container did in a former sandbox counts too; an init container has to prepare the new one.
  if (kind === 'app' && hasExited(last) && !mayRestart(input.pod, container, kind, last)) return;
  const heldUntil = input.heldUntil(container, last);
  if (heldUntil !== undefined && heldUntil > input.now) {
    result.wakeAt = Math.min(result.wakeAt ?? heldUntil, heldUntil);
    return;
  }
  result.start.push({container, kind, restarts: last ? last.notes.restarts + (isStillborn(last) ? 0 : 1) : 0});
}

function killIfUnhealthy({health}: PlanInput, container: Container, instance: Instance, result: Plan): void {
  const {name} = container;
  if (instance.notes.hash !== containerHash(container)) {
    result.kill.push({instance, message: `Container ${name} definition changed, will be restarted`});
    return;
  }
  const verdict = health.unhealthy(instance.id);
  if (verdict) result.kill.push({instance, ...verdict});
}

export function mayRestart({spec}: Pod, container: Container, kind: ContainerKind, instance: Instance): boolean {
  if (kind === 'ephemeral') return false;
  if (kind === 'sidecar') return true;
  if (kind === 'init' && instance.status.exitCode === 0) return policyOf(spec, container) !== 'Never' && isAnother(instance, container);
  if (restartsAfter(spec, container, instance.status.exitCode)) return true;
  return policyOf(spec, container) !== 'Never' && isAnother(instance, container);
}

/** Another image is another container: what the last one said of itself does not count. */
const isAnother = (instance: Instance, container: Container): boolean => instance.notes.hash !== containerHash(container);

/** All app containers have ended for good, or an init container has and cannot be run again. */
export function hasEnded(pod: Pod, newest: (name: string) => Instance | undefined): boolean {
  const {initContainers: init = [], containers} = pod.spec;
  const endedAs = (container: Container, kind: ContainerKind): boolean => {
    const instance = newest(container.name);
    return hasExited(instance) && !mayRestart(pod, container, kind, instance);
  };
  if (containers.every((container) => endedAs(container, 'app'))) return true;
  return init.some((container) => !isSidecar(container) && endedAs(container, 'init') && !succeeded(newest(container.name)));
}

function endSidecar(container: Container, newest: (name: string) => Instance | undefined, result: Plan): void {
  const instance = newest(container.name);
  // The last to start is the first to go.
  if (isRunning(instance) && result.kill.length === 0) result.kill.push({instance, message: `Stopping container ${container.name}`});
}

function withEphemeral(input: PlanInput, here: (name: string) => Instance | undefined, result: Plan): Plan {
  for (const container of input.pod.spec.ephemeralContainers ?? []) {
    const instance = here(container.name);
    if (!instance) planContainer(input, container, 'ephemeral', undefined, undefined, result);
  }
  return result;
}
