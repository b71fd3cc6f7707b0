/**
 * What the node and its containers use, now and as a rate. Nothing is measured while nobody asks; who asks first waits a second for a rate, and
 * from then on samples are taken in a rhythm until nobody has asked for some minutes. Counts are the kernel's where the agent keeps
 * cgroups, else the runtime's.
 */
import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import type {Clock} from '../../shared/clock.ts';
import {ageMs} from '../age.ts';
import {managedLabels} from '../pods/names.ts';
import type {ContainerStats, Runtime} from '../runtime/runtime.ts';
import {type CgroupDetails, CgroupReader, type CgroupUsage} from './cgroup-reader.ts';
import {type InterfaceUsage, type MachineUsage, Proc} from './machine-usage.ts';
import type {ContainerSubject, PodSubject} from './subjects.ts';

/** What is told of a cgroup; `nanoCores` is its rate over the figures' window. */
export interface Measured extends CgroupUsage {
  /** Of the kernel's tree, as its users know it: `/kubepods/...`. */
  id: string;
  nanoCores: number;
  details: CgroupDetails | undefined;
}

export interface ContainerFigures extends Measured, Pick<ContainerSubject, 'name' | 'image' | 'startedAtMs'> {
  /** What the runtime calls it. */
  containerId: string;
  /** Only in full figures. */
  rootfs: DiskUsage | undefined;
  logs: DiskUsage | undefined;
}

export interface DiskUsage {
  bytes: number;
  inodes: number;
}

export interface PodFigures extends Pick<PodSubject, 'name' | 'namespace' | 'uid' | 'startedAt'> {
  /** The pod's own cgroup, its sandbox included; the sum of its containers where there is none. */
  whole: Measured;
  network: readonly InterfaceUsage[];
  containers: readonly ContainerFigures[];
}

export interface Figures {
  at: number;
  windowMs: number;
  node: MachineUsage & {nanoCores: number; network: readonly InterfaceUsage[]; tasks: {running: number; most: number}};
  pods: readonly PodFigures[];
}

export interface FigureSourceOptions {
  subjects(): readonly PodSubject[];
  runtime: Pick<Runtime, 'containerStats'>;
  clock: Clock;
  proc?: Proc;
}

/** Readers that come together are served by one look. */
const keptMs = 1_000;
/** The least that a rate is measured over: the kernel counts on version 1 in ticks of 10 ms. */
const leastWindowMs = 1_000;
const sampleEveryMs = 10_000;
const idleMs = 300_000;

/** CPU of each cgroup, by its id, at one time. */
interface Sample {
  at: number;
  cpu: Map<string, number>;
}

const nodeId = '/';

export class FigureSource {
  readonly #options: FigureSourceOptions;
  readonly #proc: Proc;
  /** Oldest first: the last two of the rhythm, and what was measured for readers. */
  #samples: Sample[] = [];
  readonly #paths = new Map<string, string>();
  #usage: {at: number; figures: Promise<Figures>} | undefined;
  #full: {at: number; figures: Promise<Figures>} | undefined;
  #askedAt = 0;
  #cancel: (() => void) | undefined;

  constructor(options: FigureSourceOptions) {
    this.#options = options;
    this.#proc = options.proc ?? new Proc();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** `full`: with disks, networks and what else the long lists tell. @throws Error of the runtime, where it must be asked */
  get(full: boolean): Promise<Figures> {
    const now = this.#options.clock.now();
    this.#askedAt = now;
    const kept = full ? this.#full : (this.#usage ?? this.#full);
    if (kept && ageMs(kept.at, now) < keptMs) return kept.figures;
    const figures = this.#read(full);
    const entry = {at: now, figures};
    if (full) this.#full = entry;
    else this.#usage = entry;
    figures.catch(() => {
      if (this.#full === entry) this.#full = undefined;
      if (this.#usage === entry) this.#usage = undefined;
    });
    return figures;
  }

  async #read(full: boolean): Promise<Figures> {
    const {clock, runtime, subjects} = this.#options;
    if (!this.#base(clock.now())) {
      await this.#sample();
      await new Promise<void>((resolve) => {
        clock.after(leastWindowMs, resolve);
      });
    }
    this.#cancel ??= clock.after(sampleEveryMs, () => this.#tick());
    const pods = subjects();
    const seen = new Map(pods.flatMap(({containers, cgroup}) => containers.map((one) => [one.id, cgroup && this.#pathOf(one, cgroup)])));
    const missing = [...seen.values()].some((path) => path === undefined);
    const stats = full || missing ? await this.#runtimeStats(runtime) : new Map<string, ContainerStats>();
    const at = clock.now();
    const base = this.#base(at);
    const sample: Sample = {at, cpu: new Map()};
    const rate = (id: string, cpu: number, since: number): number => {
      sample.cpu.set(id, cpu);
      const before = base?.cpu.get(id);
      // What began since then began with nothing.
      const [from, count] = before !== undefined ? [base!.at, before] : [since, 0];
      return at > from ? Math.max(0, Math.round(((cpu - count) / (at - from)) * 1000)) : 0;
    };
    const machine = this.#proc.machine();
    const figures: Figures = {
      at,
      windowMs: base ? at - base.at : leastWindowMs,
      node: {
        ...machine,
        nanoCores: rate(nodeId, machine.cpuNanoseconds, at),
        network: full ? this.#proc.interfaces() : [],
        tasks: this.#proc.tasks(),
      },
      pods: pods.flatMap((pod) => this.#pod(pod, seen, stats, rate, full) ?? []),
    };
    this.#keep(sample);
    return figures;
  }

  #pod(
    {containers, cgroup, ...pod}: PodSubject,
    paths: ReadonlyMap<string, string | undefined>,
    stats: ReadonlyMap<string, ContainerStats>,
    rate: (id: string, cpu: number, since: number) => number,
    full: boolean,
  ): PodFigures | undefined {
    const reader = cgroup && readerOf(cgroup);
    const measured = containers.flatMap((container): ContainerFigures[] => {
      const path = paths.get(container.id);
      const usage = (path !== undefined && reader?.usage(path)) || usageOfRuntime(stats.get(container.id));
      if (!usage) return [];
      const disk = stats.get(container.id)?.writableLayer;
      return [
        {
          ...usage,
          id: join('/', path ?? container.id),
          nanoCores: rate(container.id, usage.cpuNanoseconds, container.startedAtMs),
          details: full && path !== undefined ? reader?.details(path) : undefined,
          name: container.name,
          image: container.image,
          startedAtMs: container.startedAtMs,
          containerId: container.id,
          rootfs: disk && {bytes: disk.usedBytes?.value ?? 0, inodes: disk.inodesUsed?.value ?? 0},
          logs: full && container.logFolder ? diskUsage(container.logFolder) : undefined,
        },
      ];
    });
    if (measured.length === 0) return undefined;
    const own = cgroup && reader?.usage(cgroup.path);
    const since = Date.parse(pod.startedAt) || 0;
    const whole: Measured = own
      ? {
          ...own,
          id: join('/', cgroup.path),
          nanoCores: rate(pod.uid, own.cpuNanoseconds, since),
          details: full ? reader?.details(cgroup.path) : undefined,
        }
      : {...sumOf(measured), id: pod.uid};
    const {name, namespace, uid, startedAt, hostNetwork} = pod;
    const network = full && !hostNetwork ? this.#network(reader, measured) : [];
    return {name, namespace, uid, startedAt, whole, network, containers: measured};
  }

  /** Of any process in the pod: all have the network of its sandbox. */
  #network(reader: CgroupReader | undefined, containers: readonly ContainerFigures[]): InterfaceUsage[] {
    for (const {id} of containers) {
      const [process] = reader?.processes(id) ?? [];
      if (process) return this.#proc.interfaces(process);
    }
    return [];
  }

  /** The runtime names its cgroups as it likes; the container's id is in the name. */
  #pathOf({id}: ContainerSubject, cgroup: NonNullable<PodSubject['cgroup']>): string | undefined {
    const known = this.#paths.get(id);
    if (known !== undefined) return known;
    const folder = readerOf(cgroup)
      .below(cgroup.path)
      .find((name) => name.includes(id));
    if (folder === undefined) return undefined;
    const path = join(cgroup.path, folder);
    this.#paths.set(id, path);
    return path;
  }

  async #runtimeStats(runtime: Pick<Runtime, 'containerStats'>): Promise<Map<string, ContainerStats>> {
    return new Map((await runtime.containerStats(managedLabels)).map((entry) => [entry.attributes.id, entry]));
  }

  /** The youngest sample that is old enough for a steady rate, else the oldest that is old enough at all. */
  #base(now: number): Sample | undefined {
    const usable = this.#samples.filter(({at}) => now - at >= leastWindowMs);
    return usable.findLast(({at}) => now - at >= sampleEveryMs) ?? usable[0];
  }

  /** CPU alone: one file a cgroup. */
  async #sample(): Promise<void> {
    const {subjects, runtime, clock} = this.#options;
    const cpu = new Map([[nodeId, this.#proc.cpu()]]);
    const left: string[] = [];
    for (const {containers, cgroup, uid} of subjects()) {
      const reader = cgroup && readerOf(cgroup);
      const own = cgroup && reader?.cpu(cgroup.path);
      if (own !== undefined) cpu.set(uid, own);
      for (const container of containers) {
        const path = cgroup && this.#pathOf(container, cgroup);
        const count = path === undefined ? undefined : reader?.cpu(path);
        if (count !== undefined) cpu.set(container.id, count);
        else left.push(container.id);
      }
    }
    if (left.length > 0) {
      const stats = await this.#runtimeStats(runtime);
      for (const id of left) cpu.set(id, stats.get(id)?.cpu?.usageCoreNanoSeconds?.value ?? 0);
    }
    this.#keep({at: clock.now(), cpu});
  }

  #keep(sample: Sample): void {
    const {at} = sample;
    // A clock that was set back has no past.
    const past = this.#samples.filter((one) => one.at < at && at - one.at <= 3 * sampleEveryMs);
    // Readers may come by the second: between those of the rhythm one is enough.
    const last = past.at(-2);
    if (last && at - last.at < sampleEveryMs) past.pop();
    this.#samples = [...past, sample];
    for (const id of this.#paths.keys()) if (!sample.cpu.has(id)) this.#paths.delete(id);
  }

  #tick(): void {
    const {clock} = this.#options;
    this.#cancel = undefined;
    if (ageMs(this.#askedAt, clock.now()) > idleMs) {
      this.#samples = [];
      return;
    }
    this.#cancel = clock.after(sampleEveryMs, () => this.#tick());
    // Who asks next learns what is wrong.
    this.#sample().catch(() => {});
  }
}

const readers = new Map<string, CgroupReader>();

function readerOf({mount, unified}: NonNullable<PodSubject['cgroup']>): CgroupReader {
  const key = `${mount} ${unified}`;
  let reader = readers.get(key);
  if (!reader) {
    reader = new CgroupReader(mount, unified);
    readers.set(key, reader);
  }
  return reader;
}

function usageOfRuntime(stats: ContainerStats | undefined): CgroupUsage | undefined {
  if (!stats?.cpu || !stats.memory) return undefined;
  const {workingSetBytes, usageBytes, rssBytes} = stats.memory;
  const workingSet = workingSetBytes?.value ?? usageBytes?.value ?? 0;
  return {
    ...nothing,
    cpuNanoseconds: stats.cpu.usageCoreNanoSeconds?.value ?? 0,
    memoryUsage: usageBytes?.value ?? workingSet,
    workingSet,
    rss: rssBytes?.value ?? 0,
  };
}

const nothing: CgroupUsage & {nanoCores: number} = {
  cpuNanoseconds: 0,
  nanoCores: 0,
  memoryUsage: 0,
  workingSet: 0,
  rss: 0,
  cache: 0,
  mappedFile: 0,
  activeFile: 0,
  inactiveFile: 0,
  pageFaults: 0,
  majorPageFaults: 0,
};

function sumOf(containers: readonly ContainerFigures[]): Omit<Measured, 'id'> {
  const sum = {...nothing};
  for (const container of containers) for (const key of Object.keys(nothing) as (keyof typeof nothing)[]) sum[key] += container[key];
  return {...sum, details: undefined};
}

/** Of the files right in a folder. */
function diskUsage(folder: string): DiskUsage {
  let [bytes, inodes] = [0, 1];
  try {
    for (const name of readdirSync(folder)) {
      bytes += statSync(join(folder, name)).blocks * 512;
      inodes += 1;
    }
  } catch {
    // Rotated away between the two.
  }
  return {bytes, inodes};
}
