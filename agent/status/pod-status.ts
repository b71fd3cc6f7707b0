/** A pod's status from what is known of it: a pure function, so that the same facts always say the same. */
import type {Instance, Observed} from '../pods/plan.ts';
import {hasExited, isRunning} from '../pods/plan.ts';
import type {Condition, Container, ContainerState, ContainerStatus, Pod, PodStatus, ResourceRequirements, Terminated} from '../pods/pod.ts';
import {isSidecar} from '../pods/pod.ts';
import {qosClass} from '../pods/resources.ts';
import {restartsAfter} from '../pods/restarts.ts';

export interface Waiting {
  reason: string;
  message?: string;
}

export interface StatusInput {
  pod: Pod;
  observed: Observed;
  /** By container: why it does not run although it should. */
  waiting: ReadonlyMap<string, Waiting>;
  ready(id: string): boolean;
  started(id: string): boolean;
  /** Of containers that have ended, by id. */
  messages: ReadonlyMap<string, string>;
  hostIps: readonly string[];
  now: number;
  /** The runtime's name, before container ids. */
  runtimeName: string;
  /** Conditions of a resize that is under way, or waits. */
  resizing?: readonly Condition[];
  /** What a running container was last given; what its specification says, without. */
  actuated?(instance: Instance, container: Container): ResourceRequirements;
  /** The agent has ended the pod for a reason of its own. */
  failed?: {reason: string; message: string} | undefined;
  /** Nothing of it runs any more, and nothing will: containers that were never seen to end have ended. */
  terminated?: boolean;
}

export const isTerminalPhase = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/** RFC 3339 in whole seconds; null for no time. */
export const timeOf = (nanos: number): string | null => (nanos > 0 ? secondsOf(nanos / 1e6) : null);
export const secondsOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

export function podStatus(input: StatusInput): PodStatus {
  const {pod, observed, hostIps, failed, now} = input;
  const {spec, status: previous} = pod;
  const old = statusesByName(previous);
  const hasInit = (spec.initContainers ?? []).length > 0;
  const initialReason = hasInit ? 'PodInitializing' : 'ContainerCreating';
  const of = (container: Container, reason: string): ContainerStatus => containerStatus(input, container, reason, old.get(container.name));
  const init = (spec.initContainers ?? []).map((container) => of(container, 'PodInitializing'));
  const main = spec.containers.map((container) => of(container, initialReason));
  const ephemeral = (spec.ephemeralContainers ?? []).map((container): ContainerStatus => {
    // They are never probed, and a pod does not wait for them.
    const {started: _started, ...status} = of(container, 'ContainerCreating');
    return {...status, ready: false};
  });
  for (const status of init) {
    const container = spec.initContainers!.find(({name}) => name === status.name)!;
    if (!isSidecar(container)) status.ready = status.state.terminated?.exitCode === 0;
  }

  const phase = phaseOf(input, init, main);
  const sandbox = observed.sandboxes[0];
  const ips = spec.hostNetwork ? hostIps : sandbox?.ready ? sandbox.ips : (previous?.podIPs?.map(({ip}) => ip) ?? []);
  const known = !sandbox && spec.hostNetwork ? [] : ips;
  return {
    ...(pod.metadata.generation !== undefined && {observedGeneration: pod.metadata.generation}),
    phase,
    conditions: [...conditionsOf(input, phase, init, main), ...(input.resizing ?? [])],
    ...(failed ? {reason: failed.reason, message: failed.message} : isTerminalPhase(phase) ? keptReason(previous) : {}),
    ...(hostIps.length > 0 && {hostIP: hostIps[0]!, hostIPs: hostIps.map((ip) => ({ip}))}),
    ...(known.length > 0 && {podIP: known[0]!, podIPs: known.map((ip) => ({ip}))}),
    startTime: previous?.startTime ?? secondsOf(now),
    ...(init.length > 0 && {initContainerStatuses: init}),
    containerStatuses: main,
    ...(ephemeral.length > 0 && {ephemeralContainerStatuses: ephemeral}),
    qosClass: qosClass(pod),
  };
}

const keptReason = (previous: PodStatus | undefined): Pick<PodStatus, 'reason' | 'message'> => ({
  ...(previous?.reason && {reason: previous.reason}),
  ...(previous?.message && {message: previous.message}),
});

const statusesByName = (status: PodStatus | undefined): Map<string, ContainerStatus> =>
  new Map(
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? []), ...(status?.ephemeralContainerStatuses ?? [])].map(
      (entry) => [entry.name, entry],
    ),
  );

function containerStatus(
  input: StatusInput,
  container: Container,
  initialReason: string,
  old: ContainerStatus | undefined,
): ContainerStatus {
  const [newest, before] = input.observed.instances.get(container.name) ?? [];
  const waiting = input.waiting.get(container.name);
  const state = stateOf(input, newest, waiting, initialReason, old);
  const ran = newest ?? undefined;
  const last = state.waiting && hasExited(newest) ? newest : before;
  const lastState: ContainerState = last && hasExited(last) ? {terminated: terminatedOf(input, last)} : (old?.lastState ?? {});
  const running = state.running !== undefined;
  return {
    name: container.name,
    state,
    lastState,
    ready: running && input.ready(newest!.id),
    restartCount: ran?.notes.restarts ?? old?.restartCount ?? 0,
    image: container.image,
    imageID: ran?.status.imageRef ?? old?.imageID ?? '',
    ...((ran || old?.containerID) && {containerID: ran ? `${input.runtimeName}://${ran.id}` : old!.containerID!}),
    started: running && input.started(newest!.id),
    ...(ran &&
      container.resources && {
        ...(container.resources.requests && {allocatedResources: container.resources.requests}),
        resources: running ? shown(container.resources, input.actuated?.(ran, container)) : container.resources,
      }),
  };
}

/** What can be changed as the runtime has it, the rest as it was agreed to. */
function shown(allocated: ResourceRequirements, actuated: ResourceRequirements = allocated): ResourceRequirements {
  const merged = (kind: 'requests' | 'limits') => allocated[kind] && {[kind]: {...allocated[kind], ...actuated[kind]}};
  return {...allocated, ...merged('requests'), ...merged('limits')};
}

function stateOf(
  input: StatusInput,
  newest: Instance | undefined,
  waiting: Waiting | undefined,
  initialReason: string,
  old: ContainerStatus | undefined,
): ContainerState {
  if (isRunning(newest)) return {running: {startedAt: timeOf(newest.status.startedAt) ?? secondsOf(input.now)}};
  if (waiting && !input.terminated) return {waiting: {reason: waiting.reason, ...(waiting.message && {message: waiting.message})}};
  if (hasExited(newest)) return {terminated: terminatedOf(input, newest)};
  if (input.terminated || isTerminalPhase(input.pod.status?.phase)) {
    if (old?.state.terminated) return old.state;
    if (old?.state.running) return {terminated: lost(old, input.now)};
  }
  // It ran, and the runtime knows nothing of it: someone took it away.
  if (!newest && old?.state.running) return {terminated: lost(old, input.now)};
  if (!newest && old?.state.terminated) return old.state;
  return {waiting: {reason: initialReason}};
}

const lost = (old: ContainerStatus, _now: number): Terminated => ({
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
  startedAt: null,
  finishedAt: null,
  ...(old.containerID && {containerID: old.containerID}),
});

function terminatedOf(input: StatusInput, {id, status}: Instance): Terminated {
  const message = input.messages.get(id) || status.message;
  return {
    exitCode: status.exitCode,
    reason: status.reason || (status.exitCode === 0 ? 'Completed' : 'Error'),
    ...(message && {message}),
    startedAt: timeOf(status.startedAt),
    finishedAt: timeOf(status.finishedAt),
    containerID: `${input.runtimeName}://${id}`,
  };
}

function phaseOf(
  {pod, failed, terminated, observed}: StatusInput,
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
): string {
  const {spec, status: previous} = pod;
  // The last word: nothing takes it back.
  if (isTerminalPhase(previous?.phase)) return previous!.phase;
  const stillRunning = [...init, ...main].some(({state}) => state.running);
  if (failed) return stillRunning ? (previous?.phase ?? 'Running') : 'Failed';
  let pendingInit = 0;
  let failedInit = false;
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const {state, lastState, started} = init[index]!;
    if (isSidecar(container)) {
      if (!(state.running && started) && !lastState.terminated && !state.terminated) pendingInit++;
    } else if (state.terminated) {
      if (state.terminated.exitCode === 0) continue;
      if (!restartsAfter(spec, container, state.terminated.exitCode)) failedInit = true;
      else pendingInit++;
    } else if (state.running || !(lastState.terminated?.exitCode === 0)) pendingInit++;
  }
  const running = main.filter(({state}) => state.running).length;
  const ended = main.filter(({state}) => state.terminated);
  const restarting = main.filter(({state, lastState}) => state.waiting && lastState.terminated).length;
  const waiting = main.length - running - ended.length - restarting;
  if (failedInit) return stillRunning ? 'Pending' : 'Failed';
  if (pendingInit > 0 && running === 0 && ended.length === 0 && restarting === 0) return 'Pending';
  if (waiting > 0 && !terminated) return 'Pending';
  if (running > 0 || stillRunning) return 'Running';
  if (ended.length + restarting === main.length && main.length > 0) {
    const again = main.some(
      ({state}, index) => !state.terminated || restartsAfter(spec, spec.containers[index]!, state.terminated.exitCode),
    );
    if (again && !terminated) return 'Running';
    return ended.every(({state}) => state.terminated!.exitCode === 0) && restarting === 0 ? 'Succeeded' : 'Failed';
  }
  // Ended before all of it had begun.
  return terminated && observed.instances.size > 0 ? 'Failed' : (previous?.phase ?? 'Pending');
}

function conditionsOf(input: StatusInput, phase: string, init: readonly ContainerStatus[], main: readonly ContainerStatus[]): Condition[] {
  const {pod, observed} = input;
  const {spec} = pod;
  const unfinished = (spec.initContainers ?? []).flatMap((container, index) => {
    const {state, lastState, started, name} = init[index]!;
    const done = isSidecar(container) ? started : state.terminated?.exitCode === 0;
    // Once the app runs, they have done their work, whatever became of them.
    const begun = main.some(({state, lastState}) => state.running || state.terminated || lastState.terminated);
    return done || begun || lastState.terminated?.exitCode === 0 ? [] : [name];
  });
  const sidecars = init.filter(({name}) => isSidecar(spec.initContainers!.find((container) => container.name === name)!));
  const unready = [...sidecars, ...main].filter(({ready}) => !ready).map(({name}) => name);
  const initialized: Draft =
    unfinished.length > 0
      ? no('Initialized', 'ContainersNotInitialized', `containers with incomplete status: [${unfinished.join(' ')}]`)
      : phase === 'Succeeded'
        ? {type: 'Initialized', status: 'True', reason: 'PodCompleted'}
        : yes('Initialized');
  const containersReady: Draft =
    phase === 'Succeeded'
      ? no('ContainersReady', 'PodCompleted')
      : phase === 'Failed'
        ? no('ContainersReady', 'PodFailed')
        : unready.length > 0
          ? no('ContainersReady', 'ContainersNotReady', `containers with unready status: [${unready.join(' ')}]`)
          : yes('ContainersReady');
  const drafts: Draft[] = [
    observed.sandboxes[0]?.ready ? yes('PodReadyToStartContainers') : no('PodReadyToStartContainers'),
    initialized,
    readyOf(pod, containersReady),
    containersReady,
    yes('PodScheduled'),
  ];
  return drafts.map((draft) => withTimes(draft, pod, input.now));
}

type Draft = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const yes = (type: string): Draft => ({type, status: 'True'});
const no = (type: string, reason?: string, message?: string): Draft => ({
  type,
  status: 'False',
  ...(reason && {reason}),
  ...(message && {message}),
});

function readyOf({spec, status}: Pod, containersReady: Draft): Draft {
  if (containersReady.status !== 'True') return {...containersReady, type: 'Ready'};
  const missing = (spec.readinessGates ?? []).flatMap(({conditionType}) => {
    const found = status?.conditions?.find(({type}) => type === conditionType);
    if (found?.status === 'True') return [];
    return [
      found
        ? `the status of pod readiness gate ${JSON.stringify(conditionType)} is not "True", but ${found.status}`
        : `corresponding condition of pod readiness gate ${JSON.stringify(conditionType)} does not exist.`,
    ];
  });
  return missing.length > 0 ? no('Ready', 'ReadinessGatesNotReady', missing.join(', ')) : yes('Ready');
}

/** The time of the last change of status, not of words. */
function withTimes(draft: Draft, pod: Pod, now: number): Condition {
  const before = pod.status?.conditions?.find(({type}) => type === draft.type);
  return {
    type: draft.type,
    ...(pod.metadata.generation !== undefined && {observedGeneration: pod.metadata.generation}),
    status: draft.status,
    lastProbeTime: null,
    lastTransitionTime: before?.status === draft.status && before.lastTransitionTime ? before.lastTransitionTime : secondsOf(now),
    ...(draft.reason && {reason: draft.reason}),
    ...(draft.message && {message: draft.message}),
  };
}
