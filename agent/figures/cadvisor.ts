/**
 * /metrics/cadvisor: what dashboards and alerts of Kubernetes are made of. Series of containers, of whole pods (their names for a container are
 * empty) and of the machine (id `/`), with cadvisor's names, labels and types; of its families those that the kernel's counts give.
 */
import type {NodeState} from '../node/node-state.ts';
import type {ContainerFigures, Figures, Measured, PodFigures} from './figures.ts';
import type {InterfaceUsage} from './machine-usage.ts';
import {type Labels, type Sample, Text} from './prometheus.ts';

interface Row {
  labels: Labels;
  measured: Measured;
  container: ContainerFigures | undefined;
}

const labelsOf = ({name, namespace}: PodFigures, id: string, container?: ContainerFigures): Labels => ({
  container: container?.name ?? '',
  id,
  image: container?.image ?? '',
  name: container?.containerId ?? '',
  namespace,
  pod: name,
});

export function cadvisorMetrics({at, node, pods}: Figures, {cpus, memoryBytes}: Pick<NodeState, 'cpus' | 'memoryBytes'>): string {
  const rows: Row[] = pods.flatMap((pod) => [
    {labels: labelsOf(pod, pod.whole.id), measured: pod.whole, container: undefined},
    ...pod.containers.map((container) => ({labels: labelsOf(pod, container.id, container), measured: container, container})),
  ]);
  const machine: Labels = {container: '', id: '/', image: '', name: '', namespace: '', pod: ''};
  const of = (pick: (row: Row) => number | undefined, more: Labels = {}, ofMachine?: number): Sample[] => {
    const samples: Sample[] = ofMachine === undefined ? [] : [{labels: {...machine, ...more}, value: ofMachine, at}];
    for (const row of rows) {
      const value = pick(row);
      if (value !== undefined) samples.push({labels: {...row.labels, ...more}, value, at});
    }
    return samples;
  };
  const detail = (pick: (details: NonNullable<Measured['details']>) => number | undefined): Sample[] =>
    of(({measured: {details}}) => details && pick(details));
  const failures = (type: 'pgfault' | 'pgmajfault', pick: (measured: Measured) => number): Sample[] =>
    ['container', 'hierarchy'].flatMap((scope) => of(({measured}) => pick(measured), {failure_type: type, scope}));
  const wire = (pick: (one: InterfaceUsage) => number): Sample[] => [
    ...node.network.map((one) => ({labels: {...machine, interface: one.name}, value: pick(one), at})),
    // The network is the pod's.
    ...pods.flatMap((pod) =>
      pod.network.map((one) => ({labels: {...labelsOf(pod, pod.whole.id), interface: one.name}, value: pick(one), at})),
    ),
  ];
  return new Text()
    .family(
      'container_cpu_usage_seconds_total',
      'counter',
      'CPU time.',
      of(({measured}) => measured.cpuNanoseconds / 1e9, {cpu: 'total'}, node.cpuNanoseconds / 1e9),
    )
    .family(
      'container_cpu_user_seconds_total',
      'counter',
      'CPU time in user mode.',
      detail(({userNanoseconds}) => userNanoseconds / 1e9),
    )
    .family(
      'container_cpu_system_seconds_total',
      'counter',
      'CPU time in the kernel.',
      detail(({systemNanoseconds}) => systemNanoseconds / 1e9),
    )
    .family(
      'container_cpu_cfs_periods_total',
      'counter',
      'Periods of its quota.',
      detail(({throttling}) => throttling?.periods),
    )
    .family(
      'container_cpu_cfs_throttled_periods_total',
      'counter',
      'Periods in which it was held back.',
      detail(({throttling}) => throttling?.throttledPeriods),
    )
    .family(
      'container_cpu_cfs_throttled_seconds_total',
      'counter',
      'Time for which it was held back.',
      detail(({throttling}) => throttling && throttling.throttledNanoseconds / 1e9),
    )
    .family(
      'container_memory_usage_bytes',
      'gauge',
      'Memory, caches included.',
      of(({measured}) => measured.memoryUsage, {}, node.memoryUsage),
    )
    .family(
      'container_memory_working_set_bytes',
      'gauge',
      'Memory without caches that could go.',
      of(({measured}) => measured.workingSet, {}, node.workingSet),
    )
    .family(
      'container_memory_rss',
      'gauge',
      'Memory that is no file.',
      of(({measured}) => measured.rss, {}, node.rss),
    )
    .family(
      'container_memory_cache',
      'gauge',
      'Memory that holds files.',
      of(({measured}) => measured.cache),
    )
    .family(
      'container_memory_mapped_file',
      'gauge',
      'Files in memory that are mapped.',
      of(({measured}) => measured.mappedFile),
    )
    .family(
      'container_memory_total_active_file_bytes',
      'gauge',
      'Files in memory that were used lately.',
      of(({measured}) => measured.activeFile),
    )
    .family(
      'container_memory_total_inactive_file_bytes',
      'gauge',
      'Files in memory that were not used lately.',
      of(({measured}) => measured.inactiveFile),
    )
    .family(
      'container_memory_swap',
      'gauge',
      'Memory in swap.',
      detail(({swapBytes}) => swapBytes),
    )
    .family(
      'container_memory_max_usage_bytes',
      'gauge',
      'The most memory it ever used.',
      detail(({maxUsage}) => maxUsage),
    )
    .family(
      'container_memory_failcnt',
      'counter',
      'How often its limit was hit.',
      detail((details) => details.failures),
    )
    .family('container_memory_failures_total', 'counter', 'Page faults.', [
      ...failures('pgfault', ({pageFaults}) => pageFaults),
      ...failures('pgmajfault', ({majorPageFaults}) => majorPageFaults),
    ])
    .family(
      'container_spec_memory_limit_bytes',
      'gauge',
      'Its limit of memory; 0 for none.',
      detail(({memoryLimit}) => memoryLimit ?? 0),
    )
    .family(
      'container_processes',
      'gauge',
      'Processes in it.',
      detail(({processes}) => processes),
    )
    .family(
      'container_threads',
      'gauge',
      'Threads in it.',
      detail(({threads}) => threads),
    )
    .family(
      'container_fs_usage_bytes',
      'gauge',
      'What it has written beside its image.',
      of(({container}) => container?.rootfs?.bytes, {device: ''}),
    )
    .family(
      'container_network_receive_bytes_total',
      'counter',
      'Bytes received.',
      wire(({rxBytes}) => rxBytes),
    )
    .family(
      'container_network_receive_packets_total',
      'counter',
      'Packets received.',
      wire(({rxPackets}) => rxPackets),
    )
    .family(
      'container_network_receive_errors_total',
      'counter',
      'Errors in receiving.',
      wire(({rxErrors}) => rxErrors),
    )
    .family(
      'container_network_receive_packets_dropped_total',
      'counter',
      'Packets dropped in receiving.',
      wire(({rxDropped}) => rxDropped),
    )
    .family(
      'container_network_transmit_bytes_total',
      'counter',
      'Bytes sent.',
      wire(({txBytes}) => txBytes),
    )
    .family(
      'container_network_transmit_packets_total',
      'counter',
      'Packets sent.',
      wire(({txPackets}) => txPackets),
    )
    .family(
      'container_network_transmit_errors_total',
      'counter',
      'Errors in sending.',
      wire(({txErrors}) => txErrors),
    )
    .family(
      'container_network_transmit_packets_dropped_total',
      'counter',
      'Packets dropped in sending.',
      wire(({txDropped}) => txDropped),
    )
    .family(
      'container_start_time_seconds',
      'gauge',
      'When it began, in seconds of the epoch.',
      of(({container}) => container && container.startedAtMs / 1000),
    )
    .family(
      'container_last_seen',
      'gauge',
      'When it was last looked at.',
      of(() => Math.floor(at / 1000), {}, Math.floor(at / 1000)),
    )
    .family('container_scrape_error', 'gauge', '1 when the figures could not be read.', [{labels: {}, value: 0}])
    .family('machine_cpu_cores', 'gauge', 'CPUs of the machine.', [{labels: {}, value: cpus}])
    .family('machine_memory_bytes', 'gauge', 'Memory of the machine.', [{labels: {}, value: memoryBytes}])
    .family('machine_scrape_error', 'gauge', '1 when the machine could not be read.', [{labels: {}, value: 0}])
    .toString();
}
