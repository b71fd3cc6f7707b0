/**
 * One pod's worker: takes in what is wanted and what happens, asks plan.ts what to do, does it, and asks again until there is nothing left.
 * One thing at a time, but for kills and for noticing that a container has ended. From running to terminating there is no way back.
 */
import {mkdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Container as RuntimeContainer, Sandbox, SandboxConfig} from '../runtime/runtime.ts';
import {isTerminalPhase, podStatus, type Waiting} from '../status/pod-status.ts';
import type {PayloadInput} from '../volumes/payload.ts';
import {VolumeError} from '../volumes/volumes.ts';
import {Backoff, goSeconds} from './backoff.ts';
import type {PodContext} from './context.ts';
import {Kill} from './kill.ts';
import {containerHash, logDirectory} from './names.ts';
import {hasEnded, hasExited, type Instance, isRunning, isStillborn, kindOf, plan} from './plan.ts';
import {allContainers, type Container, fullName, isSidecar, type Pod, type PodStatus} from './pod.ts';
import {qosClass} from './resources.ts';
import {configureSandbox, makeSandbox} from './sandbox.ts';
import {messageFileOf, PostStartError, StartError, sayAbout, startContainer} from './start.ts';
import {terminationMessage} from './termination-message.ts';
import {PodView} from './view.ts';

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
const sandboxRetry = {firstMs: 1000, longestMs: 30_000};
/** The runtime tells of an exit before its own answer shows it. */
const exitLooksMs = [5, 10, 20, 40, 80, 160, 320, 640, 1000];

export class PodWorker {
  readonly uid: string;
  readonly view: PodView;
  readonly #context: PodContext;
  readonly #end: WorkerEnd;
  readonly #crashes = new Backoff();
  readonly #sandboxes = new Backoff(sandboxRetry);
  #sandboxHeldUntil = 0;
  readonly #waiting = new Map<string, Waiting>();
  readonly #held = new Map<string, number>();
  readonly #messages = new Map<string, string>();
  readonly #kills = new Map<string, Kill>();
  /** By name: its postStart hook has not ended yet. */
  readonly #hooked = new Set<string>();
  #pod: Pod;
  /** What the API holds: the pod itself, or the mirror of a static one. */
  #apiPod: Pod | undefined;
  #status: PodStatus | undefined;
  #volumes: Map<string, string> | undefined;
  #sandboxConfig: SandboxConfig | undefined;
  #abort = new AbortController();
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
  #referencesChanged = false;
  #dirty = false;
  #running = false;
  #retryMs = firstRetryMs;
  #timer: (() => void) | undefined;

  constructor(context: PodContext, pod: Pod, apiPod: Pod | undefined, end: WorkerEnd) {
    this.uid = pod.metadata.uid;
    this.#context = context;
    this.#pod = pod;
    this.#apiPod = apiPod;
    this.#end = end;
    this.view = new PodView(context.runtime);
  }

  get pod(): Pod {
    return this.#status ? {...this.#pod, status: this.#status} : this.#pod;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined || this.#ended;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  get sandboxId(): string | undefined {
    return this.view.sandboxes.find(({ready}) => ready)?.id;
  }

  /** A newer specification of the same pod. */
  update(pod: Pod): void {
    this.#pod = pod;
    if (this.#apiPod?.metadata.uid === pod.metadata.uid) this.#apiPod = pod;
    if (pod.metadata.deletionTimestamp) this.terminate(pod.metadata.deletionGracePeriodSeconds ?? this.#grace(), true);
    if (!this.#ending && !this.#ended) this.#context.references.follow(pod);
    // Labels and annotations may stand in the pod's volumes.
    this.#referencesChanged = true;
    this.wake();
  }

  /** The entry in the API of a pod that comes from elsewhere; undefined when it is gone. */
  mirror(pod: Pod | undefined): void {
    this.#apiPod = pod;
    if (pod && this.#status) this.#publish(true);
  }

  /** No source has it any more. */
  withdraw(): void {
    this.#wanted = false;
    this.terminate(this.#pod.metadata.deletionGracePeriodSeconds ?? this.#grace(), false);
  }

  /** Ends the pod for a reason of the node's own: it stays in the API as Failed. */
  fail(reason: string, message: string, graceSeconds: number): void {
    if (this.#ending || this.#ended) return;
    this.#failed = {reason, message};
    this.terminate(graceSeconds, false);
  }

  terminate(graceSeconds: number, deleted: boolean): void {
    if (this.#ending) {
      this.#ending.deleted ||= deleted;
      if (graceSeconds < this.#ending.graceSeconds) {
        this.#ending.graceSeconds = graceSeconds;
        for (const kill of this.#kills.values()) kill.shorten(graceSeconds);
      }
    } else {
      this.#ending = {graceSeconds, deleted};
      this.#abort.abort(new Error('the pod is to end'));
    }
    this.wake();
  }

  /** Something that the pod refers to has changed. */
  referencesChanged(): void {
    this.#referencesChanged = true;
    for (const [name, waiting] of this.#waiting) if (waiting.reason === 'CreateContainerConfigError') this.#held.delete(name);
    this.#retryMs = firstRetryMs;
    this.wake();
  }

  probesChanged(): void {
    this.#publish(true);
    this.wake();
  }

  /** The runtime says so; its own answers may lag. */
  async exited(id: string): Promise<void> {
    for (const delay of exitLooksMs) {
      await this.view.refresh(id).catch(() => {});
      if (!isRunning(this.view.find(id))) break;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
    await this.#noteEnd(this.view.find(id));
    this.#publish(true);
    this.wake();
  }

  sandboxExited(id: string): void {
    const sandbox = this.view.sandboxes.find((entry) => entry.id === id);
    if (sandbox) sandbox.ready = false;
    this.wake();
  }

  async reconcile(sandboxes: readonly Sandbox[], containers: readonly RuntimeContainer[]): Promise<void> {
    // In the middle of its own doing the worker knows better.
    if (this.#running) return;
    if (!(await this.view.reconcile(sandboxes, containers))) return;
    for (const instance of this.view.all()) await this.#noteEnd(instance);
    this.#watchRunning();
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
      this.#publish(this.#isEager());
    }
    this.#running = false;
    if (this.#dirty && !this.#gone) void this.#run();
  }

  #later(error: unknown): void {
    if (error !== this.#abort.signal.reason) this.#context.log.error(fullName(this.#pod), error);
    else this.#dirty = true;
    this.#wakeIn(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
  }

  #wakeIn(ms: number): void {
    this.#timer?.();
    this.#timer = this.#context.clock.after(Math.max(1, ms), () => this.wake());
  }

  async #sync(): Promise<void> {
    if (this.#ended) return this.#clear();
    if (isTerminalPhase(this.#pod.status?.phase) && !this.#status) return this.#finish();
    if (this.#ending) return this.#terminate();
    if (!this.#admit()) return;
    const overdue = this.#checkDeadline();
    if (overdue) return;
    if (!(await this.#needVolumes())) return;
    await this.#carryOut();
  }

  /** Once: a pod that runs stays. */
  #admit(): boolean {
    if (this.#admitted) return true;
    const refusal = this.view.sandboxes.length > 0 ? undefined : this.#context.admit(this.#pod);
    if (!refusal) {
      this.#admitted = true;
      return true;
    }
    this.#failed = refusal;
    this.#sayPod('Warning', refusal.reason, refusal.message);
    this.#ended = true;
    this.#status = {
      ...(this.#pod.status ?? {}),
      phase: 'Failed',
      reason: refusal.reason,
      message: refusal.message,
      startTime: this.#pod.status?.startTime ?? new Date(this.#context.clock.now()).toISOString().replace(/\.\d+Z/, 'Z'),
    };
    if (this.#apiPod) this.#context.status.write(this.#apiPod, this.#status, true);
    return false;
  }

  #checkDeadline(): boolean {
    const {activeDeadlineSeconds} = this.#pod.spec;
    const startTime = this.#status?.startTime ?? this.#pod.status?.startTime;
    if (activeDeadlineSeconds === undefined) return false;
    const left = (startTime ? Date.parse(startTime) : this.#context.clock.now()) + activeDeadlineSeconds * 1000 - this.#context.clock.now();
    if (left > 0) {
      this.#overdue ??= this.#context.clock.after(left, () => {
        this.#overdue = undefined;
        this.wake();
      });
      return false;
    }
    const message = 'Pod was active on the node longer than the specified deadline';
    this.#sayPod('Normal', 'DeadlineExceeded', message);
    this.fail('DeadlineExceeded', message, this.#grace());
    return true;
  }

  async #needVolumes(): Promise<boolean> {
    const {volumes, references} = this.#context;
    if (this.#volumes) {
      if (this.#referencesChanged && this.#pod.spec.volumes?.length) {
        this.#referencesChanged = false;
        await volumes
          .refresh(this.#pod, this.#payloadInput())
          .catch((error) => this.#context.log.warn(`${fullName(this.#pod)}: ${error.message}`));
      }
      return true;
    }
    references.follow(this.#pod);
    this.#referencesChanged = false;
    await mkdir(volumes.folderOf(this.uid), {recursive: true, mode: 0o750});
    try {
      this.#volumes = await volumes.prepare(this.#pod, this.#payloadInput());
      return true;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      // Who hears of it looks at the status next.
      this.#publish(true);
      this.#sayPod('Warning', 'FailedMount', `MountVolume.SetUp failed for volume ${JSON.stringify(error.volume)} : ${error.message}`);
      this.#wakeIn(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
      // Not a success that would start the delays anew.
      throw this.#abort.signal.aborted ? error : new Held();
    }
  }

  #payloadInput(): PayloadInput {
    const {references, token, hostIps, allocatable} = this.#context;
    const ips = this.#pod.spec.hostNetwork ? hostIps() : (this.view.sandboxes[0]?.ips ?? []);
    return {references, token, hostIps: hostIps(), podIps: ips, allocatable: allocatable()};
  }

  async #carryOut(): Promise<void> {
    const now = this.#context.clock.now();
    const next = plan({
      pod: this.#pod,
      observed: this.view,
      health: {
        unhealthy: (id) => this.#context.prober.unhealthy(id),
        started: (id) => this.#isStarted(id),
      },
      heldUntil: (container, last) => this.#heldUntil(container, last),
      now,
    });
    for (const {instance, message, graceSeconds} of next.kill) this.#kill(instance, message, graceSeconds ?? this.#grace());
    if (next.done) return this.#finish();
    if (next.replaceSandbox) await this.#clearSandboxes();
    if (next.sandboxAttempt !== undefined) {
      if (await this.#makeSandbox(next.sandboxAttempt)) this.#dirty = true;
      return;
    }
    for (const start of next.start) {
      if (this.#kills.has(this.view.instances.get(start.container.name)?.[0]?.id ?? '')) continue;
      await this.#start(start);
      if (this.#ending) return;
      this.#dirty = true;
    }
    if (next.wakeAt !== undefined) this.#wakeIn(next.wakeAt - now);
  }

  #isStarted(id: string): boolean {
    return !this.#hooked.has(this.view.find(id)?.name ?? '') && this.#context.prober.started(id);
  }

  /** Held by a failure to start, or because it has ended too often too soon. */
  #heldUntil(container: Container, last: Instance | undefined): number | undefined {
    const {name} = container;
    const now = this.#context.clock.now();
    const held = this.#held.get(name);
    if (held !== undefined && held > now) return held;
    if (!hasExited(last)) return held;
    const key = `${name}/${containerHash(container)}`;
    const backoff = this.#crashes.held(key, last.status.finishedAt / 1e6);
    if (!backoff || backoff.until <= now) return held;
    const message = `back-off ${goSeconds(backoff.delayMs)} restarting failed container=${name} pod=${fullName(this.#pod)}`;
    if (this.#waiting.get(name)?.reason !== 'CrashLoopBackOff')
      sayAbout(this.#context, this.#pod, container)(
        'Warning',
        'BackOff',
        `Back-off restarting failed container ${name} in pod ${fullName(this.#pod)}`,
      );
    this.#waiting.set(name, {reason: 'CrashLoopBackOff', message});
    return backoff.until;
  }

  async #makeSandbox(attempt: number): Promise<boolean> {
    const now = this.#context.clock.now();
    if (this.#sandboxHeldUntil > now) {
      this.#wakeIn(this.#sandboxHeldUntil - now);
      return false;
    }
    try {
      const made = await this.#context.starts.use(() => {
        this.#abort.signal.throwIfAborted();
        return makeSandbox(this.#context, this.#pod, attempt, this.#warn);
      });
      this.#sandboxConfig = made.config;
      this.view.sandboxes = [made.view, ...this.view.sandboxes];
      this.#sandboxes.forget(this.uid);
      return true;
    } catch (error) {
      if (this.#abort.signal.aborted) throw error;
      const failedAt = this.#context.clock.now();
      this.#sandboxes.next(this.uid, failedAt);
      this.#sandboxHeldUntil = this.#sandboxes.held(this.uid, failedAt)!.until;
      this.#sayPod('Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${(error as Error).message}`);
      this.#wakeIn(this.#sandboxHeldUntil - failedAt);
      return false;
    }
  }

  readonly #warn = (reason: string, message: string): void => this.#sayPod('Warning', reason, message);

  async #clearSandboxes(): Promise<void> {
    if (this.view.sandboxes.length > 0) this.#sayPod('Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    await Promise.all(
      this.view.running().map((instance) => this.#kill(instance, `Stopping container ${instance.name}`, this.#grace()).done),
    );
    for (const {id} of this.view.sandboxes) await this.#context.runtime.stopSandbox(id);
    for (const instance of this.view.running()) await this.view.refresh(instance.id);
  }

  async #start(start: Parameters<typeof startContainer>[1]): Promise<void> {
    const {container, kind} = start;
    const {name} = container;
    const [sandbox] = this.view.sandboxes;
    const last = this.view.instances.get(name)?.[0];
    if (isStillborn(last)) {
      await this.#context.runtime.removeContainer(last.id);
      this.view.forget(last.id);
    }
    if (hasExited(last)) this.#crashes.next(`${name}/${containerHash(container)}`, last.status.finishedAt / 1e6);
    this.#sandboxConfig ??= await configureSandbox(this.#context, this.#pod, sandbox!.attempt, this.#warn);
    const input = {
      pod: this.#pod,
      sandbox: sandbox!,
      sandboxConfig: this.#sandboxConfig,
      view: this.view,
      volumes: this.#volumes!,
      signal: this.#abort.signal,
    };
    if (kind !== 'init' && container.lifecycle?.postStart) this.#hooked.add(name);
    try {
      const id = await startContainer(this.#context, start, input);
      this.#waiting.delete(name);
      this.#held.delete(name);
      const instance = this.view.find(id);
      if (isRunning(instance)) this.#watch(container, instance);
      else await this.#noteEnd(instance);
      this.#hooked.delete(name);
      void this.#dropOld(name);
    } catch (error) {
      if (error instanceof PostStartError) {
        const instance = this.view.find(error.containerId);
        if (instance) await this.#kill(instance, 'FailedPostStartHook', this.#grace()).done;
        await this.#noteEnd(this.view.find(error.containerId));
        this.#waiting.set(name, {reason: 'PostStartHookError', message: 'PostStartHook failed'});
        return;
      }
      if (!(error instanceof StartError)) throw error;
      this.#waiting.set(name, {reason: error.reason, message: error.message});
      this.#held.set(name, error.retryAt ?? Number.POSITIVE_INFINITY);
    }
  }

  #watch(container: Container, instance: Instance): void {
    const ip = this.#pod.spec.hostNetwork ? this.#context.hostIps()[0] : this.view.sandboxes[0]?.ips[0];
    const before = this.#previousStatus(container.name);
    const same = before?.containerID?.endsWith(instance.id) ?? false;
    this.#context.prober.watch(this.#pod, container, instance, ip, same && before!.ready, same && before!.started === true);
  }

  #previousStatus(name: string) {
    const status = this.#pod.status;
    return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find((entry) => entry.name === name);
  }

  /** After a restart of the agent: whatever runs is probed again. */
  #watchRunning(): void {
    if (this.#ending) return;
    for (const container of allContainers(this.#pod)) {
      const instance = this.view.instances.get(container.name)?.[0];
      if (isRunning(instance)) this.#watch(container, instance);
    }
  }

  #kill(instance: Instance, message: string, graceSeconds: number): Kill {
    const known = this.#kills.get(instance.id);
    if (known) {
      known.shorten(graceSeconds);
      return known;
    }
    const ip = this.view.sandboxes[0]?.ips[0] ?? this.#context.hostIps()[0];
    const kill = new Kill(this.#context, this.#pod, instance, ip, message, graceSeconds);
    this.#kills.set(instance.id, kill);
    void kill.done.then(async () => {
      await this.view.refresh(instance.id).catch(() => {});
      this.#kills.delete(instance.id);
      await this.#noteEnd(this.view.find(instance.id));
      this.wake();
    });
    return kill;
  }

  /** What it left behind is read before it can be removed. */
  async #noteEnd(instance: Instance | undefined): Promise<void> {
    if (!hasExited(instance)) return;
    this.#context.prober.forget(instance.id);
    if (this.#messages.has(instance.id)) return;
    const {settings, volumes} = this.#context;
    const file = messageFileOf(volumes.folderOf(this.uid), instance.name, instance.notes.restarts);
    const log = join(logDirectory(settings.logRoot, this.#pod.metadata), instance.name, `${instance.notes.restarts}.log`);
    this.#messages.set(instance.id, await terminationMessage(file, instance.notes.messagePolicy, instance.status.exitCode, log));
  }

  /** Of each container the last that ended is kept, for its log. */
  async #dropOld(name: string): Promise<void> {
    const {settings, runtime} = this.#context;
    const ended = (this.view.instances.get(name) ?? []).slice(1).filter((instance) => !isRunning(instance));
    for (const instance of ended.slice(Math.max(0, settings.maxDeadPerContainer)))
      await this.#remove(instance, runtime.removeContainer.bind(runtime));
  }

  async #remove(instance: Instance, remove: (id: string) => Promise<void>): Promise<void> {
    try {
      await remove(instance.id);
      this.view.forget(instance.id);
      this.#messages.delete(instance.id);
      const {settings} = this.#context;
      await rm(join(logDirectory(settings.logRoot, this.#pod.metadata), instance.name, `${instance.notes.restarts}.log`), {force: true});
    } catch (error) {
      this.#context.log.warn(`cannot remove container ${instance.id}: ${(error as Error).message}`);
    }
  }

  // ---- the end ------------------------------------------------------------------------------------------------------

  async #terminate(): Promise<void> {
    const graceSeconds = this.#ending!.graceSeconds;
    const deadline = this.#context.clock.now() + graceSeconds * 1000;
    const sidecars = [...(this.#pod.spec.initContainers ?? [])].filter(isSidecar).map(({name}) => name);
    const stop = (instance: Instance, seconds: number) => this.#kill(instance, `Stopping container ${instance.name}`, seconds).done;
    const isMain = ({name}: Instance) => !sidecars.includes(name);
    this.#publish(false);
    await Promise.all(
      this.view
        .running()
        .filter(isMain)
        .map((instance) => stop(instance, graceSeconds)),
    );
    for (const name of sidecars.reverse()) {
      const left = Math.max(graceSeconds > 0 ? 1 : 0, (deadline - this.#context.clock.now()) / 1000);
      await Promise.all(
        this.view
          .running()
          .filter((instance) => instance.name === name)
          .map((instance) => stop(instance, left)),
      );
    }
    // A kill that was under way before may still be settling what it saw.
    await Promise.all([...this.#kills.values()].map(({done}) => done));
    await this.#finish();
  }

  /** Containers have ended: takes away what the pod held, in the order in which nothing is needed any more. */
  async #finish(): Promise<void> {
    for (const instance of this.view.all()) {
      if (isRunning(instance)) await this.view.refresh(instance.id);
      await this.#noteEnd(instance);
      this.#context.prober.forget(instance.id);
    }
    this.#ended = true;
    this.#publish(true);
    await this.#clear();
  }

  /** Again until it succeeds; nothing of it minds a second time. */
  async #clear(): Promise<void> {
    if (!this.#cleared) await this.#release();
    this.#cleared = true;
    await this.#afterEnd();
  }

  async #release(): Promise<void> {
    const {runtime, volumes, cgroups, references, status, settings} = this.#context;
    const settled = this.#apiPod ? status.settled(this.#apiPod.metadata.uid) : Promise.resolve();
    for (const sandbox of this.view.sandboxes) {
      // A hundred at once would only wait for each other in the runtime.
      await this.#context.starts.use(() => runtime.stopSandbox(sandbox.id));
      sandbox.ready = false;
    }
    references.unfollow(this.uid);
    if (!settings.keepTerminatedVolumes || this.#ending?.deleted || !this.#wanted) await volumes.teardown(this.uid);
    // The runtime may still be clearing up below it; what cannot go yet is swept away later, nobody has to wait.
    await cgroups.remove(this.uid, qosClass(this.#pod)).catch((error) => this.#context.log.debug(`cgroup: ${error.message}`));
    await settled;
  }

  async #afterEnd(): Promise<void> {
    const deleted = this.#ending?.deleted || this.#pod.metadata.deletionTimestamp !== undefined;
    if (this.#wanted && !deleted) return;
    if (this.#context.settings.keepTerminatedVolumes) await this.#context.volumes.teardown(this.uid);
    if (deleted && this.#wanted) await this.#context.deletePod(this.#pod);
    this.#gone = true;
    this.#overdue?.();
    this.#timer?.();
    if (this.#apiPod) this.#context.status.forget(this.#apiPod.metadata.uid);
    await this.#removeAll();
    this.#end.gone(this);
  }

  /** Nobody waits for this any more; what fails here is found again as an orphan. */
  async #removeAll(): Promise<void> {
    const {runtime, volumes, settings, log} = this.#context;
    try {
      for (const {id} of this.view.sandboxes) await this.#context.starts.use(() => runtime.removeSandbox(id));
      await rm(logDirectory(settings.logRoot, this.#pod.metadata), {recursive: true, force: true});
      // Last: by its folder a pod that was half removed is found again.
      await volumes.remove(this.uid);
    } catch (error) {
      log.warn(`${fullName(this.#pod)}: ${(error as Error).message}`);
    }
  }

  // ---- what is said of it -------------------------------------------------------------------------------------------

  #grace(): number {
    return this.#pod.spec.terminationGracePeriodSeconds ?? 30;
  }

  #publish(eager: boolean): void {
    if (this.#gone || (this.#ended && this.#failed && !this.#ending)) return;
    const previous = this.#status ?? this.#pod.status;
    const conditions = [...(previous?.conditions ?? []), ...(this.#apiPod?.status?.conditions ?? [])];
    const {prober, hostIps, clock} = this.#context;
    this.#status = podStatus({
      pod: {...this.#pod, ...(previous && {status: {...previous, conditions: conditions.filter(firstOfType)}})},
      observed: this.view,
      waiting: this.#waiting,
      ready: (id) => this.#isStarted(id) && !this.#kills.has(id) && prober.ready(id),
      started: (id) => this.#isStarted(id),
      messages: this.#messages,
      hostIps: hostIps(),
      now: clock.now(),
      runtimeName: this.#context.runtimeName(),
      failed: this.#failed,
      terminated: this.#ended,
    });
    if (this.#apiPod) this.#context.status.write(this.#apiPod, this.#status, eager);
  }

  /** That a pod is being made, or is held, can wait for its events to be ahead of it; that it runs or has ended cannot. */
  #isEager(): boolean {
    if (this.#ending || this.#ended) return true;
    return hasEnded(this.#pod, (name) => this.view.instances.get(name)?.[0]) || this.view.running().length === this.#expected();
  }

  #expected(): number {
    const {containers, initContainers = []} = this.#pod.spec;
    return containers.length + initContainers.filter((container) => kindOf(this.#pod, container) === 'sidecar').length;
  }

  #sayPod(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const {name, namespace, uid, resourceVersion} = (this.#apiPod ?? this.#pod).metadata;
    this.#context.recorder.event({kind: 'Pod', name, namespace, uid, ...(resourceVersion && {resourceVersion})}, type, reason, message);
  }
}

/** Not a failure: the pod waits, and its next try has been set. */
class Held extends Error {}

const firstOfType = ({type}: {type: string}, index: number, all: readonly {type: string}[]): boolean =>
  all.findIndex((entry) => entry.type === type) === index;
