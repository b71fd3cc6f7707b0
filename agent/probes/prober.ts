/** The probes of running containers: when each runs, and what their results add up to. Who asks is told when an answer changes. */
import {HookError, resolvePort} from '../pods/hooks.ts';
import type {Instance} from '../pods/plan.ts';
import type {Container, Pod, Probe} from '../pods/pod.ts';
import {bounded} from '../pods/seconds.ts';
import {type Runtime, RuntimeError} from '../runtime/runtime.ts';
import {grpcCheck} from './grpc.ts';
import {httpCheck, type Outcome} from './http.ts';
import {tcpCheck} from './tcp.ts';

type ProbeKind = 'startup' | 'readiness' | 'liveness';

const headStartMs = 1000;
const words: Readonly<Record<ProbeKind, string>> = {startup: 'Startup', readiness: 'Readiness', liveness: 'Liveness'};

export interface ProbeEvents {
  changed(podUid: string): void;
  /** Of a failed probe. */
  unhealthy(pod: Pod, container: string, message: string): void;
  count(kind: ProbeKind, pod: Pod, container: string, result: Outcome['result'], seconds: number): void;
}

interface Target {
  pod: Pod;
  container: Container;
  instance: Instance;
  ip: string | undefined;
  startedAtMs: number;
  timers: Map<ProbeKind, NodeJS.Timeout>;
  runs: Map<ProbeKind, {last: Outcome['result'] | undefined; count: number}>;
  started: boolean;
  ready: boolean;
  verdict: {message: string; graceSeconds?: number} | undefined;
  stopped: boolean;
}

export class Prober {
  readonly #runtime: Runtime;
  readonly #events: ProbeEvents;
  readonly #targets = new Map<string, Target>();

  constructor(runtime: Runtime, events: ProbeEvents) {
    this.#runtime = runtime;
    this.#events = events;
  }

  /** Of a running container; again is no error. `wasReady`: what the API last said of this very container, after a restart of the agent. */
  watch(pod: Pod, container: Container, instance: Instance, ip: string | undefined, wasReady: boolean, wasStarted: boolean): void {
    const known = this.#targets.get(instance.id);
    if (known) {
      known.pod = pod;
      return;
    }
    const {startupProbe, readinessProbe} = container;
    const target: Target = {
      pod,
      container,
      instance,
      ip,
      startedAtMs: instance.status.startedAt / 1e6,
      timers: new Map(),
      runs: new Map(),
      started: !startupProbe || wasStarted,
      ready: !readinessProbe || wasReady,
      verdict: undefined,
      stopped: false,
    };
    this.#targets.set(instance.id, target);
    if (target.started) this.#scheduleOthers(target);
    else this.#schedule(target, 'startup', startupProbe!, true);
  }

  forget(id: string): void {
    const target = this.#targets.get(id);
    if (!target) return;
    target.stopped = true;
    for (const timer of target.timers.values()) clearTimeout(timer);
    this.#targets.delete(id);
  }

  started(id: string): boolean {
    return this.#targets.get(id)?.started ?? false;
  }

  ready(id: string): boolean {
    const target = this.#targets.get(id);
    return target?.started === true && target.ready;
  }

  unhealthy(id: string): Target['verdict'] {
    return this.#targets.get(id)?.verdict;
  }

  #scheduleOthers(target: Target): void {
    const {readinessProbe, livenessProbe} = target.container;
    if (readinessProbe) this.#schedule(target, 'readiness', readinessProbe, true);
    if (livenessProbe) this.#schedule(target, 'liveness', livenessProbe, true);
  }

  #schedule(target: Target, kind: ProbeKind, probe: Probe, first: boolean): void {
    if (target.stopped) return;
    const periodMs = bounded(probe.periodSeconds || 10) * 1000;
    // A server needs a moment before it listens; a liveness probe must not be what takes it down.
    const headStart = kind === 'liveness' ? periodMs : Math.min(periodMs, headStartMs);
    const delay = bounded(probe.initialDelaySeconds ?? 0) * 1000 + headStart;
    // A clock that was set back must not put the first probe off.
    const initial = Math.min(delay, Math.max(0, target.startedAtMs + delay - Date.now()));
    const timer = setTimeout(() => void this.#run(target, kind, probe), first ? initial : periodMs);
    target.timers.set(kind, timer);
  }

  async #run(target: Target, kind: ProbeKind, probe: Probe): Promise<void> {
    const begun = performance.now();
    const outcome = await this.#check(target, probe);
    if (target.stopped) return;
    this.#events.count(kind, target.pod, target.container.name, outcome.result, (performance.now() - begun) / 1000);
    if (outcome.result === 'failure')
      this.#events.unhealthy(target.pod, target.container.name, `${words[kind]} probe failed: ${outcome.output}`);
    if (outcome.result === 'unknown')
      this.#events.unhealthy(target.pod, target.container.name, `${words[kind]} probe errored: ${outcome.output}`);
    else this.#judge(target, kind, probe, outcome.result);
    // What failed for good is replaced; a startup that succeeded is over.
    if (target.verdict || (kind === 'startup' && target.started)) return;
    this.#schedule(target, kind, probe, false);
  }

  #judge(target: Target, kind: ProbeKind, probe: Probe, result: 'success' | 'failure'): void {
    const run = target.runs.get(kind);
    const count = run?.last === result ? run.count + 1 : 1;
    target.runs.set(kind, {last: result, count});
    if (count < (result === 'success' ? probe.successThreshold || 1 : probe.failureThreshold || 3)) return;
    const {uid} = target.pod.metadata;
    if (kind === 'readiness') {
      if (target.ready === (result === 'success')) return;
      target.ready = result === 'success';
      this.#events.changed(uid);
    } else if (result === 'failure') {
      const grace = probe.terminationGracePeriodSeconds;
      target.verdict = {
        message: `Container ${target.container.name} failed ${kind} probe, will be restarted`,
        ...(grace !== undefined && {graceSeconds: grace}),
      };
      this.#events.changed(uid);
    } else if (kind === 'startup') {
      target.started = true;
      this.#scheduleOthers(target);
      this.#events.changed(uid);
    }
  }

  async #check(target: Target, probe: Probe): Promise<Outcome> {
    const {exec, httpGet, tcpSocket, grpc} = probe;
    const timeoutSeconds = bounded(probe.timeoutSeconds || 1);
    const timeoutMs = timeoutSeconds * 1000;
    const {instance, ip = '127.0.0.1', container} = target;
    try {
      if (exec) return await this.#exec(instance.id, exec.command, timeoutSeconds);
      const ports = container.ports ?? [];
      if (httpGet)
        return await httpCheck({...httpGet, port: resolvePort(httpGet.port, ports)}, httpGet.host || ip, timeoutMs, 'kube-probe/1.36');
      if (tcpSocket) return await tcpCheck(tcpSocket.host || ip, resolvePort(tcpSocket.port, ports), timeoutMs);
      if (grpc) return await grpcCheck(ip, grpc.port, grpc.service ?? '', timeoutMs);
    } catch (error) {
      return {result: error instanceof HookError ? 'failure' : 'unknown', output: (error as Error).message};
    }
    return {result: 'success', output: ''};
  }

  async #exec(id: string, command: readonly string[], timeoutSeconds: number): Promise<Outcome> {
    try {
      const {exitCode, stdout, stderr} = await this.#runtime.exec(id, command, timeoutSeconds);
      const output = Buffer.concat([stdout, stderr])
        .subarray(0, 10 * 1024)
        .toString();
      return {result: exitCode === 0 ? 'success' : 'failure', output};
    } catch (error) {
      if (error instanceof RuntimeError && error.code === 'timeout')
        return {result: 'failure', output: `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${timeoutSeconds}s`};
      throw error;
    }
  }
}
