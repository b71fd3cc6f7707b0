/** What the node and its containers use, as the runtime counts it: for /stats/summary and the metrics of kubectl top. */

import {readFile} from 'node:fs/promises';
import {ageMs} from '../age.ts';
import {availableMemory} from '../node/machine.ts';
import type {NodeState} from '../node/node-state.ts';
import type {PodManager} from '../pods/manager.ts';
import {label, managedLabels} from '../pods/names.ts';
import type {ContainerStats, Runtime} from '../runtime/runtime.ts';

export interface Figures {
  at: number;
  node: {cpuNanoseconds: number; cpuNanoCores: number; memoryUsage: number; workingSet: number; memoryAvailable: number};
  pods: PodFigures[];
}

export interface PodFigures {
  name: string;
  namespace: string;
  uid: string;
  startedAt: string;
  containers: ContainerFigures[];
}

export interface ContainerFigures {
  name: string;
  startedAt: string;
  cpuNanoseconds: number;
  cpuNanoCores: number;
  memoryUsage: number;
  workingSet: number;
  rss: number;
  rootfsBytes: number;
  rootfsInodes: number;
}

/** Readers that come together are served by one look. */
const keptMs = 1000;

interface Before {
  at: number;
  cpu: number;
}

export class FigureSource {
  readonly #runtime: Runtime;
  readonly #state: NodeState;
  readonly #manager: PodManager;
  #kept: Promise<Figures> | undefined;
  #keptAt = 0;
  readonly #before = new Map<string, Before & {rate: number}>();

  constructor(runtime: Runtime, state: NodeState, manager: PodManager) {
    this.#runtime = runtime;
    this.#state = state;
    this.#manager = manager;
  }

  get(): Promise<Figures> {
    if (!this.#kept || ageMs(this.#keptAt, Date.now()) > keptMs) {
      this.#keptAt = Date.now();
      this.#kept = this.#read();
    }
    return this.#kept;
  }

  async #read(): Promise<Figures> {
    const [stats, cpu, available] = await Promise.all([this.#runtime.containerStats(managedLabels), nodeCpu(), availableMemory()]);
    const at = Date.now();
    const byUid = new Map<string, ContainerStats[]>();
    for (const entry of stats) {
      const uid = entry.attributes.labels[label.podUid] ?? '';
      byUid.set(uid, [...(byUid.get(uid) ?? []), entry]);
    }
    const seen = new Set(['node', ...stats.map(({attributes}) => attributes.id)]);
    for (const id of this.#before.keys()) if (!seen.has(id)) this.#before.delete(id);
    const workingSet = this.#state.memoryBytes - available;
    return {
      at,
      node: {
        cpuNanoseconds: cpu,
        cpuNanoCores: this.#rate('node', cpu, at),
        memoryUsage: workingSet,
        workingSet,
        memoryAvailable: available,
      },
      pods: [...this.#manager.workers()].flatMap(({pod, uid}) => {
        const found = byUid.get(uid);
        if (!found) return [];
        const {name, namespace} = pod.metadata;
        return [
          {
            name,
            namespace,
            uid,
            startedAt: pod.status?.startTime ?? '',
            containers: found.map((entry) => this.#container(entry, pod.status?.containerStatuses ?? [], at)),
          },
        ];
      }),
    };
  }

  #container(
    {attributes, cpu, memory, writableLayer}: ContainerStats,
    statuses: readonly {name: string; state: {running?: {startedAt: string}}}[],
    at: number,
  ): ContainerFigures {
    const nanoseconds = cpu?.usageCoreNanoSeconds?.value ?? 0;
    const name = attributes.labels[label.container] ?? attributes.metadata.name;
    return {
      name,
      startedAt: statuses.find((status) => status.name === name)?.state.running?.startedAt ?? '',
      cpuNanoseconds: nanoseconds,
      cpuNanoCores: cpu?.usageNanoCores?.value || this.#rate(attributes.id, nanoseconds, at),
      memoryUsage: memory?.usageBytes?.value ?? memory?.workingSetBytes?.value ?? 0,
      workingSet: memory?.workingSetBytes?.value ?? 0,
      rss: memory?.rssBytes?.value ?? 0,
      rootfsBytes: writableLayer?.usedBytes?.value ?? 0,
      rootfsInodes: writableLayer?.inodesUsed?.value ?? 0,
    };
  }

  /** Nanoseconds a second since the last look. */
  #rate(id: string, cpu: number, at: number): number {
    const before = this.#before.get(id);
    const rate = before && at > before.at ? Math.max(0, Math.round(((cpu - before.cpu) / (at - before.at)) * 1000)) : (before?.rate ?? 0);
    this.#before.set(id, {at, cpu, rate});
    return rate;
  }
}

const nanosPerTick = 1e7;

async function nodeCpu(): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * nanosPerTick;
}

/** The shape of the reference's summary. */
export function summaryOf(figures: Figures, {name, disk, startedAt}: NodeState): object {
  const time = new Date(figures.at).toISOString().replace(/\.\d+Z$/, 'Z');
  const {node} = figures;
  const cpu = (nanoCores: number, nanoseconds: number) => ({time, usageNanoCores: nanoCores, usageCoreNanoSeconds: nanoseconds});
  const fs = {
    time,
    availableBytes: disk.availableBytes,
    capacityBytes: disk.totalBytes,
    usedBytes: disk.totalBytes - disk.availableBytes,
    inodesFree: disk.inodesFree,
    inodes: disk.inodes,
    inodesUsed: disk.inodes - disk.inodesFree,
  };
  const total = (containers: readonly ContainerFigures[], pick: (one: ContainerFigures) => number) =>
    containers.reduce((sum, one) => sum + pick(one), 0);
  return {
    node: {
      nodeName: name,
      startTime: new Date(startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
      cpu: cpu(node.cpuNanoCores, node.cpuNanoseconds),
      memory: {time, availableBytes: node.memoryAvailable, usageBytes: node.memoryUsage, workingSetBytes: node.workingSet},
      fs,
      runtime: {imageFs: fs},
    },
    pods: figures.pods.map(({containers, startedAt: started, ...podRef}) => ({
      podRef,
      startTime: started,
      containers: containers.map((one) => ({
        name: one.name,
        startTime: one.startedAt,
        cpu: cpu(one.cpuNanoCores, one.cpuNanoseconds),
        memory: {time, usageBytes: one.memoryUsage, workingSetBytes: one.workingSet, rssBytes: one.rss},
        rootfs: {
          time,
          availableBytes: fs.availableBytes,
          capacityBytes: fs.capacityBytes,
          usedBytes: one.rootfsBytes,
          inodesUsed: one.rootfsInodes,
        },
      })),
      cpu: cpu(
        total(containers, (one) => one.cpuNanoCores),
        total(containers, (one) => one.cpuNanoseconds),
      ),
      memory: {time, usageBytes: total(containers, (one) => one.memoryUsage), workingSetBytes: total(containers, (one) => one.workingSet)},
    })),
  };
}
