/** Figures in the shape of the reference's /stats/summary. */
import type {Disk} from '../node/machine.ts';
import type {ContainerFigures, DiskUsage, Figures, Measured, PodFigures} from './figures.ts';
import type {InterfaceUsage} from './machine-usage.ts';

export interface SummaryOf {
  nodeName: string;
  startedAt: number;
  disk: Disk;
  cpuAndMemoryOnly: boolean;
}

export function summaryOf(figures: Figures, {nodeName, startedAt, disk, cpuAndMemoryOnly}: SummaryOf): object {
  const time = seconds(figures.at);
  const {node} = figures;
  const whole = cpuAndMemoryOnly ? {} : {fs: nodeFs(time, disk), runtime: {imageFs: nodeFs(time, disk), containerFs: nodeFs(time, disk)}};
  return {
    node: {
      nodeName,
      startTime: seconds(startedAt),
      cpu: cpu(time, node.nanoCores, node.cpuNanoseconds),
      memory: {
        time,
        availableBytes: node.memoryAvailable,
        usageBytes: node.memoryUsage,
        workingSetBytes: node.workingSet,
        rssBytes: node.rss,
        pageFaults: node.pageFaults,
        majorPageFaults: node.majorPageFaults,
      },
      ...(!cpuAndMemoryOnly && node.network.length > 0 && {network: network(time, node.network)}),
      ...whole,
      ...(!cpuAndMemoryOnly && {rlimit: {time, maxpid: node.tasks.most, curproc: node.tasks.running}}),
      swap: {time, swapAvailableBytes: node.swapAvailable, swapUsageBytes: node.swapUsage},
    },
    pods: figures.pods.map((pod) => podOf(pod, time, disk, cpuAndMemoryOnly)),
  };
}

function podOf(pod: PodFigures, time: string, disk: Disk, cpuAndMemoryOnly: boolean): object {
  const {name, namespace, uid, startedAt, whole, containers} = pod;
  return {
    podRef: {name, namespace, uid},
    startTime: startedAt || null,
    containers: containers.map((one) => containerOf(one, time, disk, cpuAndMemoryOnly)),
    cpu: cpu(time, whole.nanoCores, whole.cpuNanoseconds),
    memory: memory(time, whole),
    ...(!cpuAndMemoryOnly && {
      ...(pod.network.length > 0 && {network: network(time, pod.network)}),
      'ephemeral-storage': fs(time, disk, sumOfDisks(containers.flatMap(({rootfs, logs}) => [rootfs, logs]))),
      ...(whole.details && {process_stats: {process_count: containers.reduce((sum, {details}) => sum + (details?.processes ?? 0), 0)}}),
    }),
  };
}

function containerOf(one: ContainerFigures, time: string, disk: Disk, cpuAndMemoryOnly: boolean): object {
  const {details, rootfs, logs} = one;
  return {
    name: one.name,
    startTime: seconds(one.startedAtMs),
    cpu: cpu(time, one.nanoCores, one.cpuNanoseconds),
    memory: memory(time, one),
    ...(!cpuAndMemoryOnly && {
      ...(rootfs && {rootfs: fs(time, disk, rootfs)}),
      ...(logs && {logs: fs(time, disk, logs)}),
      ...(details && {swap: {time, swapUsageBytes: details.swapBytes}}),
    }),
  };
}

/** Without fractions, as the API's times are. */
const seconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

const cpu = (time: string, usageNanoCores: number, usageCoreNanoSeconds: number): object => ({time, usageNanoCores, usageCoreNanoSeconds});

const memory = (time: string, {memoryUsage, workingSet, rss, pageFaults, majorPageFaults, details}: Measured): object => ({
  time,
  // What a limit leaves.
  ...(details?.memoryLimit !== undefined && {availableBytes: Math.max(0, details.memoryLimit - workingSet)}),
  usageBytes: memoryUsage,
  workingSetBytes: workingSet,
  rssBytes: rss,
  pageFaults,
  majorPageFaults,
});

function network(time: string, interfaces: readonly InterfaceUsage[]): object {
  const each = interfaces.map(({name, rxBytes, rxErrors, txBytes, txErrors}) => ({name, rxBytes, rxErrors, txBytes, txErrors}));
  const first = each.find(({name}) => name === 'eth0') ?? each[0];
  return {time, ...first, interfaces: each};
}

const fs = (time: string, {availableBytes, totalBytes, inodes, inodesFree}: Disk, {bytes, inodes: inodesUsed}: DiskUsage): object => ({
  time,
  availableBytes,
  capacityBytes: totalBytes,
  usedBytes: bytes,
  inodesFree,
  inodes,
  inodesUsed,
});

const nodeFs = (time: string, disk: Disk): object =>
  fs(time, disk, {bytes: disk.totalBytes - disk.availableBytes, inodes: disk.inodes - disk.inodesFree});

const sumOfDisks = (disks: readonly (DiskUsage | undefined)[]): DiskUsage =>
  disks.reduce<DiskUsage>((sum, disk) => ({bytes: sum.bytes + (disk?.bytes ?? 0), inodes: sum.inodes + (disk?.inodes ?? 0)}), {
    bytes: 0,
    inodes: 0,
  });
