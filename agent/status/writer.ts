/**
 * Statuses on their way to the API: the latest of each pod, one request at a time for each, as a patch of what differs. A status that only says
 * that the pod is being made waits a moment, because most pods run before it would arrive.
 */
import type {Clock} from '../../shared/clock.ts';
import {StatusError} from '../../shared/errors.ts';
import type {ApiClient} from '../api/client.ts';
import type {Pod, PodStatus} from '../pods/pod.ts';

export interface StatusSink {
  /** `eager`: not to be held back. */
  write(pod: Pod, status: PodStatus, eager: boolean): void;
  /** When the last status of the pod is in the API, or the pod is not. */
  settled(uid: string): Promise<void>;
  forget(uid: string): void;
}

interface Entry {
  pod: Pod;
  status: PodStatus;
  /** As the API last confirmed it. */
  confirmed: PodStatus | undefined;
  dirty: boolean;
  running: Promise<void> | undefined;
  /** Set while it is held back. */
  cancel: (() => void) | undefined;
  retryMs: number;
}

export interface StatusWriterOptions {
  client: Pick<ApiClient, 'request'>;
  clock: Clock;
  /** Who sees that a pod has failed looks for why: what tells it goes first. */
  before?(uid: string): Promise<void> | undefined;
  onError(pod: Pod, error: Error): void;
}

const holdMs = 400;
const firstRetryMs = 500;
const longestRetryMs = 10_000;
const wrong = [400, 413, 422];

export class StatusWriter implements StatusSink {
  readonly #options: StatusWriterOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  write(pod: Pod, status: PodStatus, eager: boolean): void {
    const {uid} = pod.metadata;
    let entry = this.#entries.get(uid);
    if (!entry) {
      entry = {pod, status, confirmed: pod.status, dirty: false, running: undefined, cancel: undefined, retryMs: firstRetryMs};
      this.#entries.set(uid, entry);
    }
    Object.assign(entry, {pod, status});
    entry.dirty = patchOf(entry.confirmed, status) !== undefined;
    if (!entry.dirty || entry.running) return;
    if (eager) this.#send(entry);
    else entry.cancel ??= this.#options.clock.after(holdMs, () => this.#send(entry));
  }

  async settled(uid: string): Promise<void> {
    for (;;) {
      const entry = this.#entries.get(uid);
      if (!entry || (!entry.dirty && !entry.running)) return;
      if (!entry.running) this.#send(entry);
      await entry.running;
    }
  }

  forget(uid: string): void {
    const entry = this.#entries.get(uid);
    entry?.cancel?.();
    this.#entries.delete(uid);
  }

  #send(entry: Entry): void {
    entry.cancel?.();
    entry.cancel = undefined;
    entry.running ??= this.#work(entry).finally(() => {
      entry.running = undefined;
    });
  }

  async #work(entry: Entry): Promise<void> {
    const {before, client, clock, onError} = this.#options;
    while (entry.dirty) {
      await before?.(entry.pod.metadata.uid);
      const {pod, status} = entry;
      const {name, namespace, uid} = pod.metadata;
      const patch = patchOf(entry.confirmed, status);
      entry.dirty = false;
      if (!patch) return;
      try {
        const answer = await client.request<Pod>('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, {
          body: {metadata: {uid}, status: patch},
          contentType: 'application/strategic-merge-patch+json',
          priority: status.phase === 'Pending' ? 'low' : 'high',
        });
        entry.retryMs = firstRetryMs;
        // What the API does not take over it would not take over the next time.
        entry.dirty = patchOf(status, entry.status) !== undefined;
        entry.confirmed = merged(status, answer.status);
      } catch (error) {
        const code = error instanceof StatusError ? error.status.code : 0;
        // Gone, or another of the same name: nobody wants to know any more.
        if (code === 404 || code === 409) return;
        onError(pod, error as Error);
        if (!this.#entries.has(uid)) return;
        // What the API finds wrong it would find wrong again: until something else is to be said.
        if (wrong.includes(code) && patchOf(status, entry.status) === undefined) return;
        entry.dirty = true;
        await new Promise<void>((resolve) => void clock.after(entry.retryMs, resolve));
        entry.retryMs = Math.min(entry.retryMs * 2, longestRetryMs);
      }
    }
  }
}

const scalars = ['observedGeneration', 'phase', 'message', 'reason', 'hostIP', 'podIP', 'startTime', 'qosClass'] as const;
const lists = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;
const addresses = ['hostIPs', 'podIPs'] as const;
/** Conditions of ours that come and go. */
const passing = ['PodResizePending', 'PodResizeInProgress'];

/** A strategic merge patch from one status to another; undefined where they say the same. Conditions that are not ours are left alone. */
export function patchOf(before: PodStatus | undefined, after: PodStatus): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const name of scalars) if (before?.[name] !== after[name]) patch[name] = after[name] ?? null;
  for (const name of lists) if (!same(before?.[name], after[name])) patch[name] = after[name] ?? null;
  for (const name of addresses)
    if (!same(before?.[name], after[name])) patch[name] = after[name] ? [{$patch: 'replace'}, ...after[name]] : null;
  const changed = (after.conditions ?? []).filter(
    (condition) =>
      !same(
        before?.conditions?.find(({type}) => type === condition.type),
        condition,
      ),
  );
  const over = (before?.conditions ?? []).filter(({type}) => passing.includes(type) && !after.conditions?.some((one) => one.type === type));
  if (changed.length + over.length > 0)
    patch.conditions = [
      ...changed.map((condition) => ({...condition, reason: condition.reason ?? null, message: condition.message ?? null})),
      ...over.map(({type}) => ({$patch: 'delete', type})),
    ];
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Whatever the order of keys; null, absent and empty are one, as they are to the API. */
function same(a: unknown, b: unknown): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) if (!same(left[key], right[key])) return false;
  return true;
}

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value as object).length === 0);

/** What we said, and what others have said beside it. */
function merged(ours: PodStatus, theirs: PodStatus | undefined): PodStatus {
  const others = (theirs?.conditions ?? []).filter(
    ({type}) => !passing.includes(type) && !ours.conditions?.some((own) => own.type === type),
  );
  return {...ours, conditions: [...(ours.conditions ?? []), ...others]};
}
