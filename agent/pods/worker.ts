/**
 * One pod's worker: takes in what is wanted and what happens, asks plan.ts what to do, does it, and asks again until there is nothing left.
 * One thing at a time, but for kills and for noticing that a container has ended. From running to terminating there is no way back. How
 * sandboxes are made, containers started and ended, and what is taken away at the end stands in files of their own.
 */
import type {Container as RuntimeContainer, Sandbox} from '../runtime/runtime.ts';
import {isTerminalPhase, secondsOf} from '../status/pod-status.ts';
import {VolumeError} from '../volumes/volumes.ts';
import type {PodContext} from './context.ts';
import {Ends} from './ends.ts';
import {type Instance, isRunning, plan} from './plan.ts';
import {allContainers, fullName, type Pod} from './pod.ts';
import {PodVolumes} from './pod-volumes.ts';
import {release, removeAll} from './release.ts';
import {remember} from './remembered.ts';
import {type Course, Report} from './report.ts';
import {Resizes} from './resizes.ts';
import {Sandboxes} from './sandboxes.ts';
import {bounded} from './seconds.ts';
import {Starts} from './starts.ts';
import {Subject} from './subject.ts';
import type {PodView} from './view.ts';

export interface WorkerEnd {
  /** Called once, when nothing of the pod is left but, perhaps, its entry in the API. */
  gone(worker: PodWorker): void;
}

interface Ending {
  graceSeconds: number;
  /** Not again: the pod is removed from the API when it has ended. */
  deleted: boolean;
}

const firstRetryMs = 500;
const longestRetryMs = 30_000;

export class PodWorker {
  readonly uid: string;
  readonly #context: PodContext;
  readonly #subject: Subject;
  readonly #sandboxes: Sandboxes;
  readonly #ends: Ends;
  readonly #starts: Starts;
  readonly #resizes: Resizes;
  readonly #volumes: PodVolumes;
  readonly #report: Report;
  readonly #end: WorkerEnd;
  #ending: Ending | undefined;
  #failed: {reason: string; message: string} | undefined;
  #admitted = false;
  /** Containers and sandbox are gone, status is final. */
  #ended = false;
  /** Its network, volumes and cgroup are gone too. */
  #cleared = false;
  #overdue: (() => void) | undefined;
  #gone = false;
  #wanted = true;
  #dirty = false;
  #running = false;
  #retryMs = firstRetryMs;
  #timer: (() => void) | undefined;

  constructor(context: PodContext, pod: Pod, apiPod: Pod | undefined, end: WorkerEnd) {
    this.uid = pod.metadata.uid;
    this.#context = context;
    this.#end = end;
    this.#subject = new Subject(context, pod, apiPod);
    this.#sandboxes = new Sandboxes(this.#subject);
    this.#ends = new Ends(this.#subject, () => this.wake());
    this.#starts = new Starts(this.#subject, this.#ends);
    this.#resizes = new Resizes(this.#subject, this.#ends, this.#starts);
    this.#volumes = new PodVolumes(this.#subject);
    this.#report = new Report(this.#subject, this.#starts, this.#ends, this.#resizes);
  }

  get view(): PodView {
    return this.#subject.view;
  }

  get pod(): Pod {
    const {pod, status} = this.#subject;
    return status ? {...pod, status} : pod;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined || this.#ended;
  }

  /** It holds what it asked for. */
  get isAdmitted(): boolean {
    return this.#admitted;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  get sandboxId(): string | undefined {
    return this.view.sandboxes.find(({ready}) => ready)?.id;
  }

  /** A newer specification of the same pod. */
  update(pod: Pod): void {
    const subject = this.#subject;
    subject.pod = this.#resizes.take(pod);
    if (subject.apiPod?.metadata.uid === pod.metadata.uid) subject.apiPod = pod;
    if (pod.metadata.deletionTimestamp) this.terminate(pod.metadata.deletionGracePeriodSeconds ?? subject.graceSeconds, true);
    if (!this.#ending && !this.#ended) this.#context.references.follow(pod);
    // Labels and annotations may stand in the pod's volumes.
    this.#volumes.touch();
    this.wake();
  }

  /** The entry in the API of a pod that comes from elsewhere; undefined when it is gone. */
  mirror(pod: Pod | undefined): void {
    this.#subject.apiPod = pod;
    if (pod && this.#subject.status) this.#publish(true);
  }

  /** No source has it any more. */
  withdraw(): void {
    this.#wanted = false;
    this.terminate(this.#subject.pod.metadata.deletionGracePeriodSeconds ?? this.#subject.graceSeconds, false);
  }

  /** Ends the pod for a reason of the node's own: it stays in the API as Failed. */
  fail(reason: string, message: string, graceSeconds: number): void {
    if (this.#ending || this.#ended) return;
    this.#failed = {reason, message};
    this.terminate(graceSeconds, false);
  }

  terminate(givenSeconds: number, deleted: boolean): void {
    const graceSeconds = bounded(givenSeconds);
    if (this.#ending) {
      this.#ending.deleted ||= deleted;
      if (graceSeconds < this.#ending.graceSeconds) {
        this.#ending.graceSeconds = graceSeconds;
        this.#ends.shorten(graceSeconds);
      }
    } else {
      this.#ending = {graceSeconds, deleted};
      this.#subject.abort();
    }
    this.wake();
  }

  /** Something that the pod refers to has changed. */
  referencesChanged(): void {
    this.#volumes.touch();
    this.#starts.referencesChanged();
    this.#retryMs = firstRetryMs;
    this.wake();
  }

  runtimeReturned(): void {
    this.#retryMs = firstRetryMs;
    this.#sandboxes.retry();
    this.#starts.retry();
    this.wake();
  }

  probesChanged(): void {
    this.#publish(true);
    this.wake();
  }

  async exited(id: string): Promise<void> {
    if (!(await this.#ends.exited(id))) return;
    this.#publish(true);
    this.wake();
  }

  /** Another pod has left: what waited for room may have it now. */
  roomChanged(): void {
    if (this.#resizes.isPending) this.wake();
  }

  /** One that has ended, and that nobody asks for any more. */
  removeDead(instance: Instance): Promise<void> {
    return this.#ends.remove(instance);
  }

  removeOldSandboxes(): Promise<void> {
    return this.#sandboxes.removeOld();
  }

  sandboxExited(id: string): void {
    const sandbox = this.view.sandboxes.find((entry) => entry.id === id);
    if (sandbox) sandbox.ready = false;
    this.wake();
  }

  async reconcile(sandboxes: readonly Sandbox[], containers: readonly RuntimeContainer[]): Promise<void> {
    // In the middle of its own doing the worker knows better.
    if (this.#running) return;
    // Later than that it is by its own looks that the worker knows.
    const remembered = this.#admitted ? undefined : remember(this.#subject.pod);
    if (!(await this.view.reconcile(sandboxes, containers, remembered))) return;
    for (const instance of this.view.all()) await this.#ends.note(instance);
    if (!this.#ending) this.#starts.watchRunning();
    this.wake();
  }

  wake(): void {
    this.#dirty = true;
    if (!this.#running && !this.#gone) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#timer?.();
    this.#timer = undefined;
    while (this.#dirty && !this.#gone) {
      this.#dirty = false;
      try {
        await this.#sync();
        this.#retryMs = firstRetryMs;
      } catch (error) {
        if (!(error instanceof Held)) this.#later(error);
      }
      this.#publishSafely();
    }
    this.#running = false;
    if (this.#dirty && !this.#gone) void this.#run();
  }

  /** What cannot be told of one pod must not end the agent. */
  #publishSafely(): void {
    try {
      this.#publish(this.#report.isEager(this.#course));
    } catch (error) {
      this.#context.log.error(`status of ${fullName(this.#subject.pod)}`, error);
    }
  }

  #later(error: unknown): void {
    if (error !== this.#subject.signal.reason) this.#context.log.error(fullName(this.#subject.pod), error);
    else this.#dirty = true;
    this.#wakeIn(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
  }

  #wakeIn(ms: number): void {
    this.#timer?.();
    this.#timer = this.#context.clock.after(Math.max(1, ms), () => this.wake());
  }

  async #sync(): Promise<void> {
    const {pod, status} = this.#subject;
    if (this.#ended) return this.#clear();
    if (isTerminalPhase(pod.status?.phase) && !status) return this.#finish();
    if (this.#ending) return this.#terminate();
    if (!(await this.#admit())) return;
    const overdue = this.#checkDeadline();
    if (overdue) return;
    const volumes = await this.#needVolumes();
    const resizeAt = await this.#resizes.step();
    if (resizeAt !== undefined) this.#wakeIn(resizeAt - this.#context.clock.now());
    await this.#carryOut(volumes);
  }

  /** Once: a pod that runs stays. */
  async #admit(): Promise<boolean> {
    if (this.#admitted) return true;
    const subject = this.#subject;
    const {pod, apiPod} = subject;
    const begun = this.view.sandboxes.length > 0;
    const refusal = begun ? undefined : this.#context.admit(pod);
    if (!refusal) {
      this.#admitted = true;
      if (begun) await this.#resizes.adopt();
      else this.#resizes.agree();
      return true;
    }
    this.#failed = refusal;
    subject.say('Warning', refusal.reason, refusal.message);
    this.#ended = true;
    subject.status = {
      ...(pod.status ?? {}),
      phase: 'Failed',
      reason: refusal.reason,
      message: refusal.message,
      startTime: pod.status?.startTime ?? secondsOf(this.#context.clock.now()),
    };
    if (apiPod) this.#context.status.write(apiPod, subject.status, true);
    return false;
  }

  #checkDeadline(): boolean {
    const {pod, status, graceSeconds} = this.#subject;
    const {activeDeadlineSeconds} = pod.spec;
    const {clock} = this.#context;
    const startTime = status?.startTime ?? pod.status?.startTime;
    if (activeDeadlineSeconds === undefined) return false;
    const left = (startTime ? Date.parse(startTime) : clock.now()) + activeDeadlineSeconds * 1000 - clock.now();
    if (left > 0) {
      this.#overdue ??= clock.after(left, () => {
        this.#overdue = undefined;
        this.wake();
      });
      return false;
    }
    const message = 'Pod was active on the node longer than the specified deadline';
    this.#subject.say('Normal', 'DeadlineExceeded', message);
    this.fail('DeadlineExceeded', message, graceSeconds);
    return true;
  }

  async #needVolumes(): Promise<ReadonlyMap<string, string>> {
    try {
      return await this.#volumes.need();
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      // Who hears of it looks at the status next.
      this.#publish(true);
      this.#subject.warn('FailedMount', `MountVolume.SetUp failed for volume ${JSON.stringify(error.volume)} : ${error.message}`);
      this.#wakeIn(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
      // Not a success that would start the delays anew.
      throw this.#subject.signal.aborted ? error : new Held();
    }
  }

  async #carryOut(volumes: ReadonlyMap<string, string>): Promise<void> {
    const now = this.#context.clock.now();
    const next = plan({
      pod: this.#subject.pod,
      observed: this.view,
      health: {
        unhealthy: (id) => this.#context.prober.unhealthy(id),
        started: (id) => this.#starts.isStarted(id),
      },
      heldUntil: (container, last) => this.#starts.heldUntil(container, last),
      now,
    });
    for (const {instance, message, graceSeconds} of next.kill)
      this.#ends.kill(instance, message, graceSeconds ?? this.#subject.graceSeconds);
    if (next.done) return this.#finish();
    if (next.replaceSandbox) await this.#sandboxes.clear(this.#ends);
    if (next.sandboxAttempt !== undefined) {
      const retryAt = await this.#makeSandbox(next.sandboxAttempt);
      if (retryAt === undefined) this.#dirty = true;
      else this.#wakeIn(retryAt - this.#context.clock.now());
      return;
    }
    for (const start of next.start) {
      if (this.#ends.isKilling(this.view.instances.get(start.container.name)?.[0]?.id ?? '')) continue;
      await this.#starts.start(start, volumes, await this.#sandboxes.config());
      if (this.#ending) return;
      this.#dirty = true;
    }
    if (next.wakeAt !== undefined) this.#wakeIn(next.wakeAt - now);
  }

  #makeSandbox(attempt: number): Promise<number | undefined> {
    // Whether its images are there is known by the time that the sandbox is.
    for (const {image} of allContainers(this.#subject.pod)) this.#context.puller.lookAhead(image);
    return this.#sandboxes.make(attempt);
  }

  // ---- the end ------------------------------------------------------------------------------------------------------

  async #terminate(): Promise<void> {
    this.#publish(false);
    await this.#ends.stopAll(this.#ending!.graceSeconds);
    await this.#finish();
  }

  /** Containers have ended: takes away what the pod held. */
  async #finish(): Promise<void> {
    for (const instance of this.view.all()) {
      if (isRunning(instance)) await this.view.refresh(instance.id);
      await this.#ends.note(instance);
      this.#context.prober.forget(instance.id);
    }
    this.#ended = true;
    this.#publish(true);
    await this.#clear();
  }

  /** Again until it succeeds. */
  async #clear(): Promise<void> {
    const {settings} = this.#context;
    if (!this.#cleared) await release(this.#subject, settings.keepTerminatedVolumes && !this.#ending?.deleted && this.#wanted);
    this.#cleared = true;
    await this.#afterEnd();
  }

  async #afterEnd(): Promise<void> {
    const {pod, apiPod} = this.#subject;
    const deleted = this.#ending?.deleted || pod.metadata.deletionTimestamp !== undefined;
    if (this.#wanted && !deleted) return;
    if (this.#context.settings.keepTerminatedVolumes) await this.#context.volumes.teardown(this.uid);
    if (deleted && this.#wanted) await this.#context.deletePod(pod);
    this.#gone = true;
    this.#overdue?.();
    this.#timer?.();
    if (apiPod) this.#context.status.forget(apiPod.metadata.uid);
    await removeAll(this.#subject);
    this.#end.gone(this);
  }

  // ---- what is said of it -------------------------------------------------------------------------------------------

  #publish(eager: boolean): void {
    if (this.#gone || (this.#ended && this.#failed && !this.#ending)) return;
    this.#report.publish(this.#course, eager);
  }

  get #course(): Course {
    return {failed: this.#failed, ending: this.#ending !== undefined, ended: this.#ended};
  }
}

/** Not a failure: the pod waits, and its next try has been set. */
class Held extends Error {}
