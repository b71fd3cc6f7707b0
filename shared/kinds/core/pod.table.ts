/** Pods in a table. The Status column tells the most urgent thing: a sum of phase, reasons, init containers, sidecars and deletion. */
import type {KubeObject} from '../../object.ts';
import {ageOf, isTrue, nameOf, none, since} from '../common/cells.table.ts';
import {age, type KindTable, name, text, wide} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

const completed = (reason: string, message: string) => [{type: 'Completed', status: 'True', reason, message}];
const conditionsOfPhase: Record<string, ReturnType<typeof completed>> = {
  Succeeded: completed('Succeeded', 'The pod has completed successfully.'),
  Failed: completed('Failed', 'The pod failed.'),
};

export const podTable: KindTable = {
  columns: [
    name,
    text('Ready', 'Containers that are ready, of all that keep running.'),
    text('Status', 'What the pod is doing, or what keeps it from running.'),
    text('Restarts', 'How often its containers have restarted, and when last.'),
    age,
    wide(text('IP', 'Address of the pod.')),
    wide(text('Node', 'Node that the pod is bound to.')),
    wide(text('Nominated Node', 'Node on which room is being made for the pod.')),
    wide(text('Readiness Gates', 'Readiness gates that are met, of all.')),
  ],
  cells(pod, now) {
    const state = stateOf(pod);
    const {spec = {}, status = {}} = pod;
    return [
      nameOf(pod),
      `${state.ready}/${state.total}`,
      state.reason,
      state.restarts.text(now),
      ageOf(pod, now),
      status.podIPs?.[0]?.ip || none,
      spec.nodeName || none,
      status.nominatedNodeName || none,
      readinessGates(spec, status),
    ];
  },
  conditions: (pod) => conditionsOfPhase[pod.status?.phase],
};

/** Restarts of some containers, with the time at which the last one ended before it restarted. */
class Restarts {
  #count = 0;
  #last = '';

  add(container: Part): void {
    this.#count += container.restartCount ?? 0;
    const ended = container.lastState?.terminated?.finishedAt ?? '';
    // Timestamps of the wire order as text.
    if (ended > this.#last) this.#last = ended;
  }

  text(now: number): string {
    return this.#count && this.#last ? `${this.#count} (${since(this.#last, now)} ago)` : String(this.#count);
  }
}

interface State {
  ready: number;
  total: number;
  reason: string;
  restarts: Restarts;
}

function stateOf(pod: KubeObject): State {
  const {spec = {}, status = {}} = pod;
  const sidecars = new Set(
    list(spec.initContainers)
      .filter((container) => container.restartPolicy === 'Always')
      .map((container) => container.name),
  );
  const isGated = list(status.conditions).some(({type, reason}) => type === 'PodScheduled' && reason === 'SchedulingGated');
  const state: State = {
    ready: 0,
    total: list(spec.containers).length + sidecars.size,
    reason: isGated ? 'SchedulingGated' : status.reason || status.phase || '',
    restarts: new Restarts(),
  };
  const ofSidecars = new Restarts();
  const initializing = walkInitContainers(pod, sidecars, state, ofSidecars);
  if (!initializing || isTrue(status.conditions, 'Initialized')) {
    // The restarts of init containers that have done their work are history.
    state.restarts = ofSidecars;
    walkContainers(status, state);
  }
  if (pod.metadata.deletionTimestamp) {
    if (status.reason === 'NodeLost') state.reason = 'Unknown';
    else if (status.phase !== 'Succeeded' && status.phase !== 'Failed') state.reason = 'Terminating';
  }
  return state;
}

/** Stops at the first init container that is not done, which then is the reason; says whether there is one. */
function walkInitContainers({spec, status}: KubeObject, sidecars: Set<string>, state: State, ofSidecars: Restarts): boolean {
  for (const [index, container] of list(status?.initContainerStatuses).entries()) {
    state.restarts.add(container);
    const isSidecar = sidecars.has(container.name);
    if (isSidecar) ofSidecars.add(container);
    const {terminated, waiting} = container.state ?? {};
    if (terminated && !terminated.exitCode) continue;
    if (isSidecar && container.started) {
      if (container.ready) state.ready++;
      continue;
    }
    if (terminated) state.reason = `Init:${endOf(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') state.reason = `Init:${waiting.reason}`;
    else state.reason = `Init:${index}/${list(spec?.initContainers).length}`;
    return true;
  }
  return false;
}

/** Last container first, so that the first one's reason stands. */
function walkContainers(status: Part, state: State): void {
  let isRunning = false;
  let failure = '';
  for (const container of list(status.containerStatuses).toReversed()) {
    state.restarts.add(container);
    const {terminated, waiting, running} = container.state ?? {};
    if (waiting?.reason) state.reason = waiting.reason;
    else if (terminated) {
      state.reason = endOf(terminated);
      if (terminated.exitCode) failure = state.reason;
    } else if (container.ready && running) {
      isRunning = true;
      state.ready++;
    }
  }
  if (state.reason !== 'Completed') return;
  if (isRunning && list(status.conditions).some(({type, status: is}) => type === 'Ready' && is === 'True')) state.reason = 'Running';
  else if (failure) state.reason = failure;
  else if (isRunning) state.reason = 'NotReady';
}

const endOf = ({reason, signal, exitCode}: Part): string => reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`);

function readinessGates(spec: Part, status: Part): string {
  const gates = list(spec.readinessGates);
  if (gates.length === 0) return none;
  return `${gates.filter((gate) => isTrue(status.conditions, gate.conditionType)).length}/${gates.length}`;
}
