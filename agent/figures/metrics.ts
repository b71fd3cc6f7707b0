/** The agent's own figures, and /metrics/resource: names and types are the kubelet's. */
import type {NodeState} from '../node/node-state.ts';
import type {PodManager} from '../pods/manager.ts';
import type {Figures, Measured} from './figures.ts';
import {type Labels, type Sample, Text} from './prometheus.ts';

const one = (value: number, labels: Labels = {}): Sample[] => [{labels, value}];

export function agentMetrics(state: NodeState, manager: PodManager, version: string): string {
  const workers = [...manager.workers()];
  const {user, system} = process.cpuUsage();
  const running = workers.reduce((sum, {view}) => sum + view.running().length, 0);
  return new Text()
    .family('kubernetes_build_info', 'gauge', 'The version that runs.', [
      {labels: {git_version: `v${version}`, platform: `${process.platform}/${process.arch}`}, value: 1},
    ])
    .family('kubelet_node_name', 'gauge', "The node's name.", one(1, {node: state.name}))
    .family('kubelet_running_pods', 'gauge', 'Pods that have a ready sandbox.', one(workers.filter(({sandboxId}) => sandboxId).length))
    .family('kubelet_running_containers', 'gauge', 'Containers by state.', one(running, {container_state: 'running'}))
    .family('kubelet_desired_pods', 'gauge', 'Pods that the agent has been told to run.', one(workers.length))
    .family('kubelet_pleg_last_seen_seconds', 'gauge', 'When the runtime was last listed.', one(manager.listedAt / 1000))
    .family('process_cpu_seconds_total', 'counter', 'CPU of this process.', one((user + system) / 1e6))
    .family('process_resident_memory_bytes', 'gauge', 'Resident memory of this process.', one(process.memoryUsage.rss()))
    .family('process_start_time_seconds', 'gauge', 'When this process began.', one(state.startedAt / 1000))
    .toString();
}

export function resourceMetrics({at, node, pods}: Figures): string {
  const containers = pods.flatMap(({name, namespace, containers: list}) =>
    list.map((container) => [{container: container.name, namespace, pod: name}, container] as const),
  );
  const ofContainers = (pick: (one: (typeof containers)[number][1]) => number): Sample[] =>
    containers.map(([labels, container]) => ({labels, value: pick(container), at}));
  const ofPods = (pick: (whole: Measured) => number): Sample[] =>
    pods.map(({name, namespace, whole}) => ({labels: {namespace, pod: name}, value: pick(whole), at}));
  const ofNode = (value: number): Sample[] => [{labels: {}, value, at}];
  return new Text()
    .family(
      'container_cpu_usage_seconds_total',
      'counter',
      'CPU time of the container, in core-seconds.',
      ofContainers(({cpuNanoseconds}) => cpuNanoseconds / 1e9),
    )
    .family(
      'container_memory_working_set_bytes',
      'gauge',
      'Working set of the container.',
      ofContainers(({workingSet}) => workingSet),
    )
    .family(
      'container_start_time_seconds',
      'gauge',
      'When the container began, in seconds of the epoch.',
      containers.map(([labels, {startedAtMs}]) => ({labels, value: startedAtMs / 1000})),
    )
    .family('node_cpu_usage_seconds_total', 'counter', 'CPU time of the node, in core-seconds.', ofNode(node.cpuNanoseconds / 1e9))
    .family('node_memory_working_set_bytes', 'gauge', 'Working set of the node.', ofNode(node.workingSet))
    .family('node_swap_usage_bytes', 'gauge', 'Swap that the node uses.', ofNode(node.swapUsage))
    .family(
      'pod_cpu_usage_seconds_total',
      'counter',
      'CPU time of the pod, in core-seconds.',
      ofPods(({cpuNanoseconds}) => cpuNanoseconds / 1e9),
    )
    .family(
      'pod_memory_working_set_bytes',
      'gauge',
      'Working set of the pod.',
      ofPods(({workingSet}) => workingSet),
    )
    .family('resource_scrape_error', 'gauge', '1 when the figures could not be read.', [{labels: {}, value: 0}])
    .toString();
}

/** What is said where they could not be read. */
export const noResourceMetrics = (): string =>
  new Text().family('resource_scrape_error', 'gauge', '1 when the figures could not be read.', [{labels: {}, value: 1}]).toString();
