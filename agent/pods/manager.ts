/**
 * All pods of the node: a worker for each that a source names, and for each that the runtime still has though no source does. Hands runtime
 * events to who they concern, and compares with the runtime's lists now and then.
 */
import {readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../shared/clock.ts';
import type {Container, RuntimeEvent, Sandbox} from '../runtime/runtime.ts';
import type {PodContext} from './context.ts';
import {label, managedLabels, readNotes} from './names.ts';
import {isOurContainer, isOurSandbox} from './ours.ts';
import {isMirror, isStatic, type Pod} from './pod.ts';
import {PodWorker} from './worker.ts';

export type SourceName = 'api' | 'file' | 'http' | 'manifest';

/** Tells the API of pods that do not come from it. */
export interface Mirrors {
  /** Static pods, and what the API has of them by full name. */
  update(statics: readonly Pod[], mirrors: ReadonlyMap<string, Pod>): void;
}

export interface ManagerOptions {
  context: PodContext;
  clock: Clock;
  sources: readonly SourceName[];
  mirrors?: Mirrors;
  /** How often the runtime is asked for everything, whatever it tells by itself. */
  listEveryMs?: number;
  /** The runtime does not answer any more, or does again. */
  runtimeChanged?: () => void;
}

const defaultListMs = 30_000;
const balanceAfterMs = 100;
const keyOf = ({metadata}: Pod): string => `${metadata.namespace}/${metadata.name}`;

interface Snapshot {
  sandboxes: Map<string, Sandbox[]>;
  containers: Map<string, Container[]>;
}

export class PodManager {
  readonly #options: ManagerOptions;
  readonly #workers = new Map<string, PodWorker>();
  readonly #desired = new Map<SourceName, Map<string, Pod>>();
  #mirrors = new Map<string, Pod>();
  #snapshot: Snapshot | undefined;
  #listing: Promise<void> | undefined;
  #listAgain = false;
  #isRuntimeLost = false;
  #balancing: (() => void) | undefined;
  readonly #doubted = new Set<string>();
  #stop: (() => void)[] = [];
  /** When the runtime last answered a list, ms. */
  listedAt = 0;

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  start(): void {
    const {context, clock, listEveryMs = defaultListMs} = this.#options;
    this.#stop.push(
      context.runtime.watch(
        (event) => this.#take(event),
        () => this.list(),
      ),
    );
    let cancel = () => {};
    const tick = () => {
      void this.list();
      cancel = clock.after(listEveryMs, tick);
    };
    cancel = clock.after(listEveryMs, tick);
    this.#stop.push(() => cancel());
  }

  stop(): void {
    for (const end of this.#stop.splice(0)) end();
    this.#balancing?.();
  }

  *workers(): Iterable<PodWorker> {
    yield* this.#workers.values();
  }

  find(namespace: string, name: string, uid?: string): PodWorker | undefined {
    for (const worker of this.#workers.values()) {
      const {metadata} = worker.pod;
      if (metadata.namespace === namespace && metadata.name === name && (!uid || metadata.uid === uid)) return worker;
    }
    return undefined;
  }

  worker(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }

  /** Those that hold resources: taken in, by this agent or by one before it, and neither ended nor refused. */
  active(except?: string): Pod[] {
    return [...this.#workers.values()]
      .filter(({uid, hasEnded, isAdmitted}) => uid !== except && !hasEnded && (isAdmitted || this.#snapshot?.sandboxes.has(uid)))
      .map(({pod}) => pod);
  }

  /** All of a source's pods, for the first time or again. */
  replace(source: SourceName, pods: readonly Pod[]): void {
    if (source === 'api') {
      this.#mirrors = new Map(pods.filter(isMirror).map((pod) => [keyOf(pod), pod]));
      pods = pods.filter((pod) => !isMirror(pod));
    }
    const before = this.#desired.get(source);
    const next = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
    this.#desired.set(source, next);
    if (!before) {
      this.#settle();
      return;
    }
    // A source that is read every second mostly says what it said before.
    const touched = [...new Set([...before.keys(), ...next.keys()])].filter((uid) => before.get(uid) !== next.get(uid));
    if (touched.length > 0 || source === 'api') this.#settle(touched);
  }

  changed(pod: Pod): void {
    if (isMirror(pod)) this.#mirrors.set(keyOf(pod), pod);
    else this.#need('api').set(pod.metadata.uid, pod);
    this.#settle([pod.metadata.uid]);
  }

  removed(pod: Pod): void {
    if (!isMirror(pod)) this.#need('api').delete(pod.metadata.uid);
    else if (this.#mirrors.get(keyOf(pod))?.metadata.uid === pod.metadata.uid) this.#mirrors.delete(keyOf(pod));
    this.#settle([pod.metadata.uid]);
  }

  /** Asks the runtime for everything that is ours. */
  list(): Promise<void> {
    if (this.#listing) {
      this.#listAgain = true;
      return this.#listing;
    }
    this.#listing = this.#list()
      .catch((error) => {
        this.#options.context.log.error('cannot list the runtime', error);
        if (!this.#isRuntimeLost) this.#options.runtimeChanged?.();
        this.#isRuntimeLost = true;
      })
      .finally(() => {
        this.#listing = undefined;
        if (this.#listAgain) {
          this.#listAgain = false;
          void this.list();
        }
      });
    return this.#listing;
  }

  #need(source: SourceName): Map<string, Pod> {
    let pods = this.#desired.get(source);
    if (!pods) {
      pods = new Map();
      this.#desired.set(source, pods);
    }
    return pods;
  }

  async #list(): Promise<void> {
    const {runtime} = this.#options.context;
    const lists = await Promise.all([runtime.sandboxes(managedLabels), runtime.containers(managedLabels)]);
    const [sandboxes, containers] = [this.#believed(lists[0], isOurSandbox), this.#believed(lists[1], isOurContainer)];
    this.listedAt = this.#options.clock.now();
    const snapshot: Snapshot = {sandboxes: byPod(sandboxes), containers: byPod(containers)};
    const first = this.#snapshot === undefined;
    this.#snapshot = snapshot;
    await Promise.all(
      [...this.#workers.values()].map((worker) =>
        worker
          .reconcile(snapshot.sandboxes.get(worker.uid) ?? [], snapshot.containers.get(worker.uid) ?? [])
          // One that makes no sense must not keep the others from being seen.
          .catch((error) => this.#options.context.log.error(`cannot reconcile ${keyOf(worker.pod)}`, error)),
      ),
    );
    if (first) this.#settle();
    for (const worker of this.#workers.values()) worker.roomChanged();
    this.#endOrphans();
    if (!this.#isRuntimeLost) return;
    this.#isRuntimeLost = false;
    this.#options.runtimeChanged?.();
    // What failed while it was away need not wait any longer.
    for (const worker of this.#workers.values()) worker.runtimeReturned();
  }

  #believed<T extends {id: string}>(list: readonly T[], isOurs: (entry: T) => boolean): T[] {
    return list.filter((entry) => {
      if (isOurs(entry)) return true;
      if (!this.#doubted.has(entry.id))
        this.#options.context.log.warn(`${JSON.stringify(entry.id)} in the runtime is not ours after all: left alone`);
      this.#doubted.add(entry.id);
      return false;
    });
  }

  /** No uids: all. */
  #settle(uids?: readonly string[]): void {
    // Without knowing what runs, a pod would be started a second time.
    if (!this.#snapshot) return;
    const wanted = new Map<string, Pod>();
    for (const pods of this.#desired.values()) for (const [id, pod] of pods) wanted.set(id, pod);
    const touched = new Set(uids ?? [...wanted.keys(), ...this.#workers.keys()]);
    for (const id of touched) {
      const pod = wanted.get(id);
      const worker = this.#workers.get(id);
      if (pod && worker) worker.update(pod);
      else if (pod) this.#begin(pod);
      else if (worker && this.#isComplete()) worker.withdraw();
    }
    this.#updateMirrors([...wanted.values()].filter(isStatic));
  }

  #updateMirrors(statics: readonly Pod[]): void {
    for (const worker of this.#workers.values()) if (isStatic(worker.pod)) worker.mirror(this.#mirrors.get(keyOf(worker.pod)));
    // Until the API has been heard, every mirror looks missing.
    if (this.#desired.has('api')) this.#options.mirrors?.update(statics, this.#mirrors);
  }

  /** All sources have spoken at least once: what none of them names is not wanted. */
  #isComplete(): boolean {
    return this.#options.sources.every((source) => this.#desired.has(source));
  }

  #begin(pod: Pod): void {
    // The pod of the same name before it has to be gone; its end settles again.
    if (this.find(pod.metadata.namespace, pod.metadata.name)) return;
    const {uid} = pod.metadata;
    const snapshot = this.#snapshot!;
    const sandboxes = snapshot.sandboxes.get(uid) ?? [];
    const apiPod = isStatic(pod) ? this.#mirrors.get(keyOf(pod)) : pod;
    this.#adopt(pod, apiPod, sandboxes, snapshot.containers.get(uid) ?? []);
  }

  #adopt(pod: Pod, apiPod: Pod | undefined, sandboxes: readonly Sandbox[], containers: readonly Container[]): PodWorker {
    const {context} = this.#options;
    const worker = new PodWorker(context, pod, apiPod, {gone: (gone) => this.#gone(gone)});
    this.#workers.set(worker.uid, worker);
    if (sandboxes.length + containers.length === 0) worker.update(pod);
    else
      worker
        .reconcile(sandboxes, containers)
        .then(() => worker.update(pod))
        .catch((error) => context.log.error(`cannot adopt ${keyOf(pod)}`, error));
    this.#balanceSoon();
    return worker;
  }

  /** Once for all pods that come together. */
  #balanceSoon(): void {
    const {context, clock} = this.#options;
    this.#balancing ??= clock.after(balanceAfterMs, () => {
      this.#balancing = undefined;
      context.cgroups.balance(this.active()).catch((error) => context.log.warn(`cgroups: ${(error as Error).message}`));
    });
  }

  #gone(worker: PodWorker): void {
    this.#workers.delete(worker.uid);
    this.#balanceSoon();
    this.#snapshot?.sandboxes.delete(worker.uid);
    this.#snapshot?.containers.delete(worker.uid);
    for (const pods of this.#desired.values()) if (pods.get(worker.uid)?.metadata.deletionTimestamp) pods.delete(worker.uid);
    this.#settle();
    for (const other of this.#workers.values()) other.roomChanged();
  }

  /** Of a pod that was deleted while nobody looked. */
  #endOrphans(): void {
    if (!this.#isComplete()) return;
    const wanted = new Set([...this.#desired.values()].flatMap((pods) => [...pods.keys()]));
    for (const [uid, sandboxes] of this.#snapshot!.sandboxes) {
      if (this.#workers.has(uid) || wanted.has(uid)) continue;
      const containers = this.#snapshot!.containers.get(uid) ?? [];
      const worker = this.#adopt(orphan(sandboxes[0]!, containers), undefined, sandboxes, containers);
      worker.withdraw();
    }
    void this.#sweep(wanted);
  }

  /** Folders and cgroups of pods that have neither a source nor a container. */
  async #sweep(wanted: ReadonlySet<string>): Promise<void> {
    const {volumes, cgroups, log, settings} = this.#options.context;
    const isLeft = (uid: string) => !this.#workers.has(uid) && !wanted.has(uid) && !this.#snapshot?.sandboxes.has(uid);
    try {
      for (const uid of await volumes.present()) {
        if (!isLeft(uid)) continue;
        await removeLogs(settings.logRoot, uid);
        // By its folder it was ours.
        await cgroups.clear(uid, undefined);
        await volumes.remove(uid);
      }
      for (const uid of await cgroups.present()) if (isLeft(uid)) await cgroups.remove(uid, undefined);
    } catch (error) {
      log.warn(`cannot clear up: ${(error as Error).message}`);
    }
  }

  #take({type, id}: RuntimeEvent): void {
    for (const worker of this.#workers.values()) {
      if (worker.view.find(id)) {
        if (type === 'exited' || type === 'removed') void worker.exited(id);
        return;
      }
      if (worker.view.sandboxes.some((sandbox) => sandbox.id === id)) {
        if (type === 'exited' && !worker.isEnding) worker.sandboxExited(id);
        return;
      }
    }
  }
}

/** Another agent's logs may lie beside ours: only those of pods that had a folder here. */
async function removeLogs(root: string, uid: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [] as string[]))
    if (name.endsWith(`_${uid}`)) await rm(join(root, name), {recursive: true, force: true});
}

function byPod<T extends {labels: Readonly<Record<string, string>>}>(list: readonly T[]): Map<string, T[]> {
  const result = new Map<string, T[]>();
  for (const entry of list) {
    const uid = entry.labels[label.podUid];
    if (!uid) continue;
    const known = result.get(uid);
    if (known) known.push(entry);
    else result.set(uid, [entry]);
  }
  return result;
}

/** As much of a pod as its containers tell: enough to end it as it wished to end. */
function orphan({metadata}: Sandbox, containers: readonly Container[]): Pod {
  const notes = containers.map(({annotations}) => readNotes(annotations));
  const named = (kinds: readonly string[]) =>
    [...new Set(containers.filter((_, index) => kinds.includes(notes[index]!.kind)).map(({labels}) => labels[label.container] ?? ''))].map(
      (name) => ({
        name,
        image: '',
      }),
    );
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {name: metadata.name, namespace: metadata.namespace, uid: metadata.uid},
    spec: {
      containers: named(['app', 'ephemeral', 'init']),
      initContainers: named(['sidecar']).map((container) => ({...container, restartPolicy: 'Always'})),
      terminationGracePeriodSeconds: Math.max(0, ...notes.map(({graceSeconds}) => graceSeconds)),
    },
  };
}
