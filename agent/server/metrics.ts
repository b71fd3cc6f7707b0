/** The agent's figures as Prometheus reads them. */
import type {NodeState} from '../node/node-state.ts';
import type {PodManager} from '../pods/manager.ts';
import type {Figures} from './figures.ts';

type Labels = Readonly<Record<string, string>>;

class Text {
  readonly #lines: string[] = [];

  family(name: string, type: 'counter' | 'gauge', help: string, samples: Iterable<[labels: Labels, value: number]>): this {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [labels, value] of samples) {
      const inner = Object.entries(labels).map(
        ([key, text]) => `${key}="${text.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`,
      );
      this.#lines.push(`${name}${inner.length > 0 ? `{${inner.join(',')}}` : ''} ${value}`);
    }
    return this;
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

export function agentMetrics(state: NodeState, manager: PodManager, version: string): string {
  const workers = [...manager.workers()];
  const {user, system} = process.cpuUsage();
  const running = workers.reduce((sum, {view}) => sum + view.running().length, 0);
  return new Text()
    .family('kubernetes_build_info', 'gauge', 'The version that runs.', [
      [{git_version: `v${version}`, platform: `${process.platform}/${process.arch}`}, 1],
    ])
    .family('kubelet_node_name', 'gauge', "The node's name.", [[{node: state.name}, 1]])
    .family('kubelet_running_pods', 'gauge', 'Pods that have a ready sandbox.', [[{}, workers.filter(({sandboxId}) => sandboxId).length]])
    .family('kubelet_running_containers', 'gauge', 'Containers by state.', [[{container_state: 'running'}, running]])
    .family('kubelet_desired_pods', 'gauge', 'Pods that the agent has been told to run.', [[{}, workers.length]])
    .family('kubelet_pleg_last_seen_seconds', 'gauge', 'When the runtime was last listed.', [[{}, manager.listedAt / 1000]])
    .family('process_cpu_seconds_total', 'counter', 'CPU of this process.', [[{}, (user + system) / 1e6]])
    .family('process_resident_memory_bytes', 'gauge', 'Resident memory of this process.', [[{}, process.memoryUsage.rss()]])
    .family('process_start_time_seconds', 'gauge', 'When this process began.', [[{}, state.startedAt / 1000]])
    .toString();
}

export function probeMetrics(state: NodeState): string {
  const samples = [...state.probes].map(([key, count]): [Labels, number] => {
    const [kind, namespace, pod, container, result] = key.split('\0') as [string, string, string, string, string];
    return [
      {
        container,
        namespace,
        pod,
        probe_type: `${kind[0]!.toUpperCase()}${kind.slice(1)}`,
        result: result === 'success' ? 'successful' : result === 'failure' ? 'failed' : 'unknown',
      },
      count,
    ];
  });
  return new Text().family('prober_probe_total', 'counter', 'Probes by result.', samples).toString();
}

export function resourceMetrics({node, pods}: Figures): string {
  const containers = pods.flatMap(({name, namespace, containers}) =>
    containers.map((one) => [{container: one.name, namespace, pod: name}, one] as const),
  );
  const perPod = (pick: (one: Figures['pods'][number]['containers'][number]) => number) =>
    pods.map(({name, namespace, containers}): [Labels, number] => [
      {namespace, pod: name},
      containers.reduce((sum, one) => sum + pick(one), 0),
    ]);
  return new Text()
    .family('node_cpu_usage_seconds_total', 'counter', 'CPU of the node.', [[{}, node.cpuNanoseconds / 1e9]])
    .family('node_memory_working_set_bytes', 'gauge', 'Memory of the node that cannot be given back.', [[{}, node.workingSet]])
    .family(
      'container_cpu_usage_seconds_total',
      'counter',
      'CPU of the container.',
      containers.map(([labels, one]) => [labels, one.cpuNanoseconds / 1e9]),
    )
    .family(
      'container_memory_working_set_bytes',
      'gauge',
      'Memory of the container that cannot be given back.',
      containers.map(([labels, one]) => [labels, one.workingSet]),
    )
    .family(
      'container_start_time_seconds',
      'gauge',
      'When the container began.',
      containers.map(([labels, one]) => [labels, (Date.parse(one.startedAt) || 0) / 1000]),
    )
    .family(
      'pod_cpu_usage_seconds_total',
      'counter',
      'CPU of the pod.',
      perPod((one) => one.cpuNanoseconds / 1e9),
    )
    .family(
      'pod_memory_working_set_bytes',
      'gauge',
      'Memory of the pod that cannot be given back.',
      perPod((one) => one.workingSet),
    )
    .family('resource_scrape_error', 'gauge', '1 when the figures could not be read.', [[{}, 0]])
    .toString();
}

export function cadvisorMetrics({pods}: Figures, state: NodeState): string {
  const rows = pods.flatMap(({name, namespace, uid, containers}) =>
    containers.map((one) => [{container: one.name, namespace, pod: name, id: `/kubepods/pod${uid}/${one.name}`}, one] as const),
  );
  return new Text()
    .family('machine_cpu_cores', 'gauge', 'CPUs of the machine.', [[{}, state.cpus]])
    .family('machine_memory_bytes', 'gauge', 'Memory of the machine.', [[{}, state.memoryBytes]])
    .family(
      'container_cpu_usage_seconds_total',
      'counter',
      'CPU of the container.',
      rows.map(([labels, one]) => [{...labels, cpu: 'total'}, one.cpuNanoseconds / 1e9]),
    )
    .family(
      'container_memory_usage_bytes',
      'gauge',
      'Memory of the container, caches included.',
      rows.map(([labels, one]) => [labels, one.memoryUsage]),
    )
    .family(
      'container_memory_working_set_bytes',
      'gauge',
      'Memory of the container that cannot be given back.',
      rows.map(([labels, one]) => [labels, one.workingSet]),
    )
    .family(
      'container_memory_rss',
      'gauge',
      'Resident memory of the container.',
      rows.map(([labels, one]) => [labels, one.rss]),
    )
    .family(
      'container_fs_usage_bytes',
      'gauge',
      'What the container has written.',
      rows.map(([labels, one]) => [labels, one.rootfsBytes]),
    )
    .toString();
}
