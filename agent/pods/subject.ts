/** One pod as all parts of its worker see it: what is wanted, what the runtime has, and a voice to speak of it with. */
import type {PodContext} from './context.ts';
import type {Pod, PodStatus} from './pod.ts';
import {bounded} from './seconds.ts';
import {PodView} from './view.ts';

export class Subject {
  readonly uid: string;
  readonly context: PodContext;
  readonly view: PodView;
  readonly #abort = new AbortController();
  pod: Pod;
  /** What the API holds: the pod itself, or the mirror of a static one. */
  apiPod: Pod | undefined;
  /** As last told. */
  status: PodStatus | undefined;

  constructor(context: PodContext, pod: Pod, apiPod: Pod | undefined) {
    this.uid = pod.metadata.uid;
    this.context = context;
    this.pod = pod;
    this.apiPod = apiPod;
    this.view = new PodView(context.runtime);
  }

  /** Aborted when the pod is to end: what is being made for it need not be finished. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(): void {
    this.#abort.abort(new Error('the pod is to end'));
  }

  get graceSeconds(): number {
    return bounded(this.pod.spec.terminationGracePeriodSeconds ?? 30);
  }

  say(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const {name, namespace, uid, resourceVersion} = (this.apiPod ?? this.pod).metadata;
    this.context.recorder.event({kind: 'Pod', name, namespace, uid, ...(resourceVersion && {resourceVersion})}, type, reason, message);
  }

  readonly warn = (reason: string, message: string): void => this.say('Warning', reason, message);
}
