/**
 * Events about pods and the node: written to the API at a limited rate, the same one again as a count. An event is worth a try, never a wait:
 * what cannot be written soon is dropped.
 */
import type {Clock} from '../../shared/clock.ts';
import {StatusError} from '../../shared/errors.ts';
import {ageMs} from '../age.ts';
import type {ApiClient} from '../api/client.ts';
import {TokenBucket} from '../api/token-bucket.ts';
import {secondsOf} from '../status/pod-status.ts';

export interface InvolvedObject {
  kind: string;
  apiVersion?: string;
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface Recorder {
  event(about: InvolvedObject, type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Resolves when the API has been told what went wrong with this one, or after a moment; undefined where there is nothing to tell. */
  warned(uid: string): Promise<void> | undefined;
}

interface Known {
  namespace: string;
  name: string;
  count: number;
  firstTimestamp: string;
  at: number;
}

const headStartMs = 25;
/** While pods wait to be started their events can wait too: so long, looked at so often. */
const longestHoldMs = 5_000;
const holdLookMs = 100;
/** What a status waits for the events that explain it. */
const warningMs = 200;
const maxQueued = 250;
const laneCount = 4;
const maxKnown = 4096;
/** One object that never stops complaining must not drown the others: so many at once, then one in five minutes. */
const perObjectBurst = 25;
const perObjectPerSecond = 1 / 300;

export interface RecorderOptions {
  client: Pick<ApiClient, 'request'>;
  clock: Clock;
  component: string;
  host: string;
  perSecond: number;
  burst: number;
  onError(error: Error): void;
  /** There is more to do than can be done at once. */
  isBusy?(): boolean;
}

interface Draft {
  about: InvolvedObject;
  type: string;
  reason: string;
  message: string;
  at: number;
}

export class ApiRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #bucket: TokenBucket;
  readonly #known = new Map<string, Known>();
  readonly #buckets = new Map<string, TokenBucket>();
  /** The same event is in the same lane, so that its count is not written before it is. */
  readonly #lanes: Lane[] = Array.from({length: laneCount}, () => ({queue: [], running: false}));
  /** What went wrong and is on its way, by whom it is about. */
  readonly #warnings = new Map<string, Warnings>();
  #serial = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket(options.perSecond, options.burst, options.clock);
  }

  event(about: InvolvedObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    if (!this.#bucketOf(about).tryTake()) return;
    const draft = {about, type, reason, message: message.slice(0, 1024), at: this.#options.clock.now()};
    const lane = this.#lanes[laneOf(keyOf(draft))]!;
    if (lane.queue.length >= maxQueued) return;
    lane.queue.push(draft);
    if (type === 'Warning') this.#underWay(about.uid).count += 1;
    if (!lane.running) {
      lane.running = true;
      // What it tells of goes on first.
      lane.unstarted = this.#options.clock.after(headStartMs, () => this.#start(lane));
    }
    // That something went wrong must not come behind what it led to, nor before what led to it.
    if (type === 'Warning') for (const each of this.#lanes.filter(({unstarted}) => unstarted).sort(byFirst)) this.#start(each);
  }

  warned(uid: string): Promise<void> | undefined {
    const warnings = this.#warnings.get(uid);
    if (!warnings) return undefined;
    return new Promise((resolve) => {
      warnings.waiting.push(resolve);
      this.#options.clock.after(warningMs, resolve);
    });
  }

  #underWay(uid = ''): Warnings {
    const warnings = this.#warnings.get(uid) ?? {count: 0, waiting: []};
    this.#warnings.set(uid, warnings);
    return warnings;
  }

  #arrived(uid = ''): void {
    const warnings = this.#warnings.get(uid)!;
    warnings.count -= 1;
    if (warnings.count > 0) return;
    this.#warnings.delete(uid);
    for (const resolve of warnings.waiting) resolve();
  }

  #start(lane: Lane): void {
    lane.unstarted?.();
    delete lane.unstarted;
    void this.#drain(lane);
  }

  #bucketOf(about: InvolvedObject): TokenBucket {
    const key = `${about.namespace}/${about.kind}/${about.name}/${about.uid}`;
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      if (this.#buckets.size >= maxKnown) this.#buckets.delete(this.#buckets.keys().next().value!);
      bucket = new TokenBucket(perObjectPerSecond, perObjectBurst, this.#options.clock);
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }

  async #drain(lane: Lane): Promise<void> {
    for (let draft = lane.queue.shift(); draft; draft = lane.queue.shift()) {
      await this.#quiet(lane, draft);
      await this.#bucket.take();
      try {
        await this.#write(draft);
      } catch (error) {
        this.#options.onError(error as Error);
      }
      if (draft.type === 'Warning') this.#arrived(draft.about.uid);
    }
    lane.running = false;
  }

  async #quiet({queue}: Lane, draft: Draft): Promise<void> {
    const {isBusy, clock} = this.#options;
    const canWait = (): boolean => ![draft, ...queue].some(({type}) => type === 'Warning') && ageMs(draft.at, clock.now()) < longestHoldMs;
    while (isBusy?.() && canWait()) await new Promise<void>((resolve) => clock.after(holdLookMs, resolve));
  }

  async #write(draft: Draft): Promise<void> {
    const {about, type, reason, message, at} = draft;
    const key = keyOf(draft);
    const known = this.#known.get(key);
    const lastTimestamp = secondsOf(at);
    if (known) {
      known.count += 1;
      try {
        await this.#options.client.request('PATCH', `/api/v1/namespaces/${known.namespace}/events/${known.name}`, {
          body: {count: known.count, lastTimestamp},
          contentType: 'application/merge-patch+json',
          priority: 'free',
        });
        return;
      } catch (error) {
        if (!(error instanceof StatusError && error.status.code === 404)) throw error;
      }
    }
    const {client, component, host} = this.#options;
    const namespace = about.namespace ?? 'default';
    const name = `${about.name}.${at.toString(16)}${(this.#serial++).toString(16).padStart(4, '0')}`;
    await client.request('POST', `/api/v1/namespaces/${namespace}/events`, {
      body: {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: {name, namespace},
        involvedObject: {apiVersion: 'v1', ...about},
        reason,
        message,
        source: {component, host},
        firstTimestamp: lastTimestamp,
        lastTimestamp,
        count: 1,
        type,
        reportingComponent: component,
        reportingInstance: host,
      },
      priority: 'free',
    });
    if (this.#known.size >= maxKnown) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, {namespace, name, count: 1, firstTimestamp: lastTimestamp, at});
  }
}

interface Lane {
  queue: Draft[];
  running: boolean;
  /** Takes back its start, while that is yet to come. */
  unstarted?: () => void;
}

interface Warnings {
  count: number;
  waiting: (() => void)[];
}

const byFirst = (one: Lane, other: Lane): number => one.queue[0]!.at - other.queue[0]!.at;

const keyOf = ({about, type, reason, message}: Draft): string =>
  JSON.stringify([about.kind, about.namespace, about.name, about.uid, about.fieldPath, type, reason, message]);

function laneOf(key: string): number {
  let sum = 0;
  for (let index = 0; index < key.length; index++) sum = (sum * 31 + key.charCodeAt(index)) | 0;
  return Math.abs(sum) % laneCount;
}

export const silentRecorder: Recorder = {event() {}, warned: () => undefined};
