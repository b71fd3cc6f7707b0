/** What the API is told of a pod: its status from what all parts of its worker know, and whether it may wait a moment. */
import {podStatus} from '../status/pod-status.ts';
import type {Ends} from './ends.ts';
import {hasEnded, kindOf} from './plan.ts';
import type {Pod} from './pod.ts';
import type {Resizes} from './resizes.ts';
import type {Starts} from './starts.ts';
import type {Subject} from './subject.ts';

export interface Course {
  /** Ended by the node, for this reason. */
  failed: {reason: string; message: string} | undefined;
  /** On its way out. */
  ending: boolean;
  /** Nothing of it runs any more. */
  ended: boolean;
}

export class Report {
  readonly #subject: Subject;
  readonly #starts: Starts;
  readonly #ends: Ends;
  readonly #resizes: Resizes;

  constructor(subject: Subject, starts: Starts, ends: Ends, resizes: Resizes) {
    this.#subject = subject;
    this.#starts = starts;
    this.#ends = ends;
    this.#resizes = resizes;
  }

  publish({failed, ending, ended}: Course, eager: boolean): void {
    const subject = this.#subject;
    const {context, pod, apiPod, view} = subject;
    const previous = subject.status ?? pod.status;
    const conditions = [...(previous?.conditions ?? []), ...(apiPod?.status?.conditions ?? [])];
    subject.status = podStatus({
      pod: {...pod, ...(previous && {status: {...previous, conditions: conditions.filter(firstOfType)}})},
      observed: view,
      waiting: this.#starts.waiting,
      ready: (id) => this.#starts.isReady(id),
      started: (id) => this.#starts.isStarted(id),
      messages: this.#ends.messages,
      hostIps: context.hostIps(),
      now: context.clock.now(),
      runtimeName: context.runtimeName(),
      resizing: ending || ended ? [] : this.#resizes.conditions,
      actuated: (instance, container) => this.#resizes.actuated(instance, container),
      failed,
      terminated: ended,
    });
    if (apiPod) context.status.write(apiPod, subject.status, eager);
  }

  /** That a pod is being made, or is held, can wait for its events to be ahead of it; that it runs or has ended cannot. */
  isEager({ending, ended}: Course): boolean {
    const {pod, view} = this.#subject;
    return ending || ended || hasEnded(pod, (name) => view.instances.get(name)?.[0]) || view.running().length === expectedOf(pod);
  }
}

/** Containers that run while the pod does. */
function expectedOf(pod: Pod): number {
  const {containers, initContainers = []} = pod.spec;
  return containers.length + initContainers.filter((container) => kindOf(pod, container) === 'sidecar').length;
}

const firstOfType = ({type}: {type: string}, index: number, all: readonly {type: string}[]): boolean =>
  all.findIndex((entry) => entry.type === type) === index;
