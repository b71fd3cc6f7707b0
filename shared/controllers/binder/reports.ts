/** What users are told of a pod's way to its node: events, and the condition PodScheduled. Each thing is said once, and not by the second. */
import type {Log} from '../../api.ts';
import type {Client} from '../../client/client.ts';
import type {Clock} from '../../clock.ts';
import {isReason} from '../../errors.ts';
import {rfc3339} from '../../kinds/common/time.ts';
import type {KubeObject} from '../../object.ts';
import {schedulerName} from './subjects.ts';

/** Between two events that say why the same pod waits; its condition is kept current all the time. */
const quietMs = 60_000;
const maxNoteLength = 1_024;

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

export class Reports {
  readonly #options: {client: Client; clock: Clock; log: Log};
  readonly #underWay = new Set<Promise<void>>();
  readonly #toldAt = new Map<string, number>();
  #events = 0;

  constructor(options: {client: Client; clock: Clock; log: Log}) {
    this.#options = options;
  }

  assigned(pod: KubeObject, node: string): void {
    const {namespace, name, uid} = pod.metadata;
    this.#toldAt.delete(uid!);
    this.#event(pod, 'Normal', 'Scheduled', 'Binding', `Successfully assigned ${namespace}/${name} to ${node}`);
  }

  /** @throws what the API says, save that the pod has changed or gone: then it comes again by itself. */
  async refused(pod: KubeObject, message: string): Promise<void> {
    const {client, clock} = this.#options;
    const {uid, name, namespace, generation} = pod.metadata;
    const conditions: Condition[] = pod['status']?.conditions ?? [];
    const before = conditions.find(({type}) => type === 'PodScheduled');
    if (before?.status === 'False' && before.reason === 'Unschedulable' && before.message === message) return;
    const now = clock.now();
    if (now - (this.#toldAt.get(uid!) ?? Number.NEGATIVE_INFINITY) >= quietMs) {
      this.#toldAt.set(uid!, now);
      this.#event(pod, 'Warning', 'FailedScheduling', 'Scheduling', message);
    }
    const condition: Condition = {
      type: 'PodScheduled',
      ...(generation !== undefined && {observedGeneration: generation}),
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime! : rfc3339(now),
      reason: 'Unschedulable',
      message,
    };
    const patch = {metadata: {uid}, status: {conditions: [condition]}};
    try {
      await client.patch(
        {groupVersion: 'v1', resource: 'pods', namespace},
        name!,
        'application/strategic-merge-patch+json',
        patch,
        'status',
      );
    } catch (error) {
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }

  forget(uid: string): void {
    this.#toldAt.delete(uid);
  }

  /** Resolves when what was begun is written. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Nobody waits for events, and one that is lost is no reason to fail. */
  #event(pod: KubeObject, type: string, reason: string, action: string, note: string): void {
    const {client, clock, log} = this.#options;
    const {namespace, name, uid, resourceVersion} = pod.metadata;
    const now = clock.now();
    const suffix = (BigInt(now) * 1_000_000n + BigInt(this.#events++ % 1_000_000)).toString(16);
    const event = {
      metadata: {name: `${name}.${suffix}`, namespace},
      eventTime: new Date(now).toISOString().replace('Z', '000Z'),
      reportingController: schedulerName,
      reportingInstance: `${schedulerName}-binder`,
      action,
      reason,
      regarding: {kind: 'Pod', namespace, name, uid, apiVersion: 'v1', resourceVersion},
      note: note.length > maxNoteLength ? `${note.slice(0, maxNoteLength - 4)} ...` : note,
      type,
    };
    const write = client
      .create({groupVersion: 'events.k8s.io/v1', resource: 'events', namespace}, event)
      .catch((error: unknown) => log.debug({error: String(error), pod: `${namespace}/${name}`}, 'an event was not written'))
      .then(() => {
        this.#underWay.delete(write);
      });
    this.#underWay.add(write);
  }
}
