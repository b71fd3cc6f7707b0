/** Figures over trees of files that a test writes as the kernel would, in both of its versions. */
import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {podOf} from '../pods/testing.ts';
import type {ContainerStats} from '../runtime/runtime.ts';
import {scratch} from '../testing.ts';
import {cadvisorMetrics} from './cadvisor.ts';
import {FigureSource, type Figures} from './figures.ts';
import {Proc} from './machine-usage.ts';
import {resourceMetrics} from './metrics.ts';
import {ProbeCounts} from './probe-counts.ts';
import type {PodSubject} from './subjects.ts';
import {summaryOf} from './summary.ts';

const podPath = 'kubepods/burstable/pod1';
const containerPath = `${podPath}/cri-containerd-c1.scope`;
const mib = 1024 * 1024;
const second = 1e9;
const start = Date.UTC(2026, 0, 1);

class Machine {
  readonly clock = new ManualClock(start);
  readonly root: string;
  readonly unified: boolean;
  asked = 0;
  subjects: PodSubject[];
  stats: ContainerStats[] = [];

  constructor(root: string, unified: boolean) {
    this.root = root;
    this.unified = unified;
    this.subjects = [
      {
        name: 'web',
        namespace: 'default',
        uid: 'u1',
        startedAt: '2025-12-31T23:00:00Z',
        hostNetwork: false,
        cgroup: {mount: join(root, 'cgroup'), unified, path: podPath},
        sandboxId: 's1',
        containers: [{name: 'main', id: 'c1', image: 'web:1', startedAtMs: start - 3_600_000, logFolder: join(root, 'logs')}],
      },
    ];
  }

  async write(files: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.root, name);
      await mkdir(dirname(path), {recursive: true});
      await writeFile(path, `${text}\n`);
    }
  }

  /** `cpu` in seconds, of the container; its sandbox has used one more. */
  async uses(cpu: number, memoryMib: number, machineTicks: number): Promise<void> {
    await this.write({
      'proc/stat': `cpu  ${machineTicks} 0 0 5000 0 0 0 0 0 0\ncpu0 1 1 1 1`,
      'proc/meminfo':
        'MemTotal:       1000000 kB\nMemFree:         400000 kB\nInactive(file):  100000 kB\nAnonPages:       200000 kB\nSwapTotal:  0 kB\nSwapFree: 0 kB',
      'proc/vmstat': 'pgfault 77\npgmajfault 7',
      'proc/loadavg': '0.1 0.2 0.3 2/345 999',
      'proc/sys/kernel/pid_max': '32768',
      'proc/4711/net/dev':
        'Inter-|   Receive\n face |bytes packets\n  lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\neth0: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0',
      'proc/self/net/dev': '  eth9:500 5 0 0 0 0 0 0 600 6 0 0 0 0 0 0',
      'logs/0.log': 'x'.repeat(5000),
    });
    for (const [path, more] of [
      [podPath, 1],
      [containerPath, 0],
    ] as const) {
      const bytes = (memoryMib + more) * mib;
      if (this.unified)
        await this.write({
          [`cgroup/${path}/cpu.stat`]: `usage_usec ${(cpu + more) * 1e6}\nuser_usec 3000000\nsystem_usec 1000000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 2500000`,
          [`cgroup/${path}/memory.current`]: String(bytes),
          [`cgroup/${path}/memory.stat`]: `anon ${mib}\nfile ${2 * mib}\nfile_mapped 4096\ninactive_file ${mib}\nactive_file 8192\npgfault 12\npgmajfault 3`,
          [`cgroup/${path}/memory.max`]: String(64 * mib),
          [`cgroup/${path}/memory.peak`]: String(32 * mib),
          [`cgroup/${path}/memory.events`]: 'low 0\nmax 5\noom 0',
          [`cgroup/${path}/memory.swap.current`]: '4096',
          [`cgroup/${path}/cgroup.procs`]: '4711\n4712',
          [`cgroup/${path}/pids.current`]: '9',
        });
      else
        await this.write({
          [`cgroup/cpuacct/${path}/cpuacct.usage`]: String((cpu + more) * second),
          [`cgroup/cpuacct/${path}/cpuacct.stat`]: 'user 300\nsystem 100',
          [`cgroup/cpu/${path}/cpu.stat`]: 'nr_periods 10\nnr_throttled 4\nthrottled_time 2500000000',
          [`cgroup/memory/${path}/memory.usage_in_bytes`]: String(bytes),
          [`cgroup/memory/${path}/memory.stat`]: `cache 1\nrss 1\ninactive_file 1\ntotal_rss ${mib}\ntotal_cache ${2 * mib}\ntotal_mapped_file 4096\ntotal_inactive_file ${mib}\ntotal_active_file 8192\ntotal_pgfault 12\ntotal_pgmajfault 3\ntotal_swap 4096`,
          [`cgroup/memory/${path}/memory.limit_in_bytes`]: String(64 * mib),
          [`cgroup/memory/${path}/memory.max_usage_in_bytes`]: String(32 * mib),
          [`cgroup/memory/${path}/memory.failcnt`]: '5',
          [`cgroup/memory/${path}/cgroup.procs`]: '4711\n4712',
          [`cgroup/pids/${path}/pids.current`]: '9',
        });
    }
  }

  /** Who asks first waits: time goes on once the first sample has been taken. */
  async after(ms: number, answer: Promise<Figures>): Promise<Figures> {
    await new Promise((resolve) => setImmediate(resolve));
    this.clock.advance(ms);
    return answer;
  }

  source(): FigureSource {
    return new FigureSource({
      subjects: () => this.subjects,
      runtime: {
        containerStats: async () => {
          this.asked += 1;
          return this.stats;
        },
      },
      clock: this.clock,
      proc: new Proc(join(this.root, 'proc')),
    });
  }
}

const versions = [
  ['version 1', false],
  ['version 2', true],
] as const;

describe.each(versions)('cgroups of %s', (_name, unified) => {
  const machine = async (): Promise<Machine> => {
    const made = new Machine(await scratch('figures-'), unified);
    await made.uses(10, 20, 1000);
    return made;
  };

  test('who asks first waits a second, and gets the rate of that second', async () => {
    const node = await machine();
    const source = node.source();
    const answer = source.get(false);
    await node.uses(10.5, 24, 1050);
    const {windowMs, node: whole, pods} = await node.after(1_000, answer);
    expect(windowMs).toBe(1_000);
    expect(whole).toMatchObject({
      nanoCores: 5e8,
      memoryUsage: 600_000 * 1024,
      workingSet: 500_000 * 1024,
      memoryAvailable: 500_000 * 1024,
      rss: 200_000 * 1024,
      majorPageFaults: 7,
    });
    expect(pods).toHaveLength(1);
    const [main] = pods[0]!.containers;
    expect(main).toMatchObject({name: 'main', nanoCores: 5e8, cpuNanoseconds: 10.5 * second, memoryUsage: 24 * mib, workingSet: 23 * mib});
    expect(main).toMatchObject({rss: mib, cache: 2 * mib, mappedFile: 4096, pageFaults: 12, majorPageFaults: 3});
    // The sandbox counts for the pod.
    expect(pods[0]!.whole).toMatchObject({nanoCores: 5e8, workingSet: 24 * mib, id: `/${podPath}`});
    // All of it is the kernel's: the runtime was not asked.
    expect(node.asked).toBe(0);
    source.stop();
  });

  test('afterwards rates are steady ones over ten seconds and more, and nobody waits', async () => {
    const node = await machine();
    const source = node.source();
    await node.after(1_000, source.get(false));
    node.clock.advance(10_000);
    await node.uses(30, 20, 2000);
    node.clock.advance(9_000);
    const {windowMs, pods} = await source.get(false);
    expect(windowMs).toBe(19_000);
    expect(pods[0]!.containers[0]!.nanoCores).toBe(Math.round((20 * second) / 19));
    source.stop();
  });

  test('a container that began meanwhile began with nothing', async () => {
    const node = await machine();
    const source = node.source();
    await node.after(1_000, source.get(false));
    const [pod] = node.subjects;
    await node.write(
      unified
        ? {[`cgroup/${podPath}/c2/cpu.stat`]: 'usage_usec 2000000', [`cgroup/${podPath}/c2/memory.current`]: '4096'}
        : {[`cgroup/cpuacct/${podPath}/c2/cpuacct.usage`]: '2000000000', [`cgroup/memory/${podPath}/c2/memory.usage_in_bytes`]: '4096'},
    );
    node.subjects = [
      {...pod!, containers: [...pod!.containers, {name: 'late', id: 'c2', image: '', startedAtMs: start + 2_000, logFolder: undefined}]},
    ];
    node.clock.advance(5_000);
    const {pods} = await source.get(false);
    expect(pods[0]!.containers[1]).toMatchObject({name: 'late', nanoCores: 5e8, workingSet: 4096});
    source.stop();
  });

  test('nothing is read when nobody has asked for a while', async () => {
    const node = await machine();
    const source = node.source();
    await node.after(1_000, source.get(false));
    node.clock.advance(400_000);
    let reads = 0;
    const {subjects} = node;
    Object.defineProperty(node, 'subjects', {
      get: () => {
        reads += 1;
        return subjects;
      },
    });
    node.clock.advance(3_600_000);
    expect(reads).toBe(0);
  });

  test('the summary has the reference’s shape', async () => {
    const node = await machine();
    node.stats = [
      {
        attributes: {id: 'c1', metadata: {name: 'main', attempt: 0}, labels: {}},
        writableLayer: {usedBytes: {value: 7000}, inodesUsed: {value: 3}},
      } as ContainerStats,
    ];
    const source = node.source();
    const figures = await node.after(1_000, source.get(true));
    const about = {nodeName: 'n', startedAt: start, disk: {totalBytes: 100, availableBytes: 40, inodes: 10, inodesFree: 4}};
    const summary = JSON.parse(JSON.stringify(summaryOf(figures, {...about, cpuAndMemoryOnly: false})));
    const time = '2026-01-01T00:00:01Z';
    expect(summary.node).toMatchObject({
      nodeName: 'n',
      cpu: {time, usageNanoCores: 0, usageCoreNanoSeconds: 10 * second},
      network: {name: 'eth9', rxBytes: 500, txBytes: 600, interfaces: [{name: 'eth9'}]},
      fs: {capacityBytes: 100, usedBytes: 60, inodesUsed: 6},
      rlimit: {maxpid: 32_768, curproc: 345},
    });
    const [pod] = summary.pods;
    expect(pod).toMatchObject({
      podRef: {name: 'web', namespace: 'default', uid: 'u1'},
      startTime: '2025-12-31T23:00:00Z',
      memory: {workingSetBytes: 20 * mib, rssBytes: mib, availableBytes: 44 * mib},
      network: {name: 'eth0', rxBytes: 1000, rxErrors: 1, txBytes: 2000, txErrors: 3},
      process_stats: {process_count: 2},
    });
    expect(pod['ephemeral-storage'].usedBytes).toBe(7000 + pod.containers[0].logs.usedBytes);
    expect(pod.containers[0]).toMatchObject({name: 'main', rootfs: {usedBytes: 7000, inodesUsed: 3}, swap: {swapUsageBytes: 4096}});
    const short = JSON.parse(JSON.stringify(summaryOf(figures, {...about, cpuAndMemoryOnly: true})));
    expect(Object.keys(short.node)).toEqual(['nodeName', 'startTime', 'cpu', 'memory', 'swap']);
    expect(Object.keys(short.pods[0])).toEqual(['podRef', 'startTime', 'containers', 'cpu', 'memory']);
    expect(Object.keys(short.pods[0].containers[0])).toEqual(['name', 'startTime', 'cpu', 'memory']);
    source.stop();
  });

  test('Prometheus reads the reference’s names', async () => {
    const node = await machine();
    const source = node.source();
    const figures = await node.after(1_000, source.get(true));
    const at = start + 1_000;
    const resource = resourceMetrics(figures).split('\n');
    expect(resource).toContain(`container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 10 ${at}`);
    expect(resource).toContain(`pod_memory_working_set_bytes{namespace="default",pod="web"} ${20 * mib} ${at}`);
    expect(resource).toContain(`node_cpu_usage_seconds_total 10 ${at}`);
    expect(resource).toContain('resource_scrape_error 0');
    const cadvisor = cadvisorMetrics(figures, {cpus: 2, memoryBytes: 1000}).split('\n');
    const labels = `container="main",id="/${containerPath}",image="web:1",name="c1",namespace="default",pod="web"`;
    const ofPod = `container="",id="/${podPath}",image="",name="",namespace="default",pod="web"`;
    expect(cadvisor).toContain(`container_cpu_usage_seconds_total{${labels},cpu="total"} 10 ${at}`);
    expect(cadvisor).toContain(`container_cpu_user_seconds_total{${labels}} 3 ${at}`);
    expect(cadvisor).toContain(`container_cpu_cfs_throttled_seconds_total{${labels}} 2.5 ${at}`);
    expect(cadvisor).toContain(`container_memory_working_set_bytes{${ofPod}} ${20 * mib} ${at}`);
    expect(cadvisor).toContain(`container_memory_failcnt{${labels}} 5 ${at}`);
    expect(cadvisor).toContain(`container_spec_memory_limit_bytes{${labels}} ${64 * mib} ${at}`);
    expect(cadvisor).toContain(`container_network_transmit_packets_dropped_total{${ofPod},interface="eth0"} 4 ${at}`);
    expect(cadvisor).toContain('machine_cpu_cores 2');
    // Each family once, with its type before its samples.
    const families = cadvisor.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
    expect(new Set(families).size).toBe(families.length);
    source.stop();
  });
});

test('without cgroups the runtime’s counts are told, and pods are the sum of their containers', async () => {
  const node = new Machine(await scratch('figures-'), true);
  await node.uses(1, 1, 1);
  node.subjects = [{...node.subjects[0]!, cgroup: undefined}];
  const counted = (nanoseconds: number) => [
    {
      attributes: {id: 'c1', metadata: {name: 'main', attempt: 0}, labels: {}},
      cpu: {timestamp: 0, usageCoreNanoSeconds: {value: nanoseconds}},
      memory: {timestamp: 0, workingSetBytes: {value: 5}},
    },
  ];
  node.stats = counted(2 * second);
  const source = node.source();
  const answer = source.get(false);
  // The first sample has been taken when the runtime was asked.
  await expect.poll(() => node.asked).toBe(1);
  node.stats = counted(2.25 * second);
  const {pods} = await node.after(1_000, answer);
  expect(pods[0]!.whole).toMatchObject({nanoCores: 25e7, workingSet: 5, memoryUsage: 5});
  source.stop();
});

test('who is gone while being read is left out', async () => {
  const node = new Machine(await scratch('figures-'), true);
  await node.uses(1, 1, 1);
  const containers = [{...node.subjects[0]!.containers[0]!, id: 'c9'}];
  node.subjects = [
    ...node.subjects,
    {...node.subjects[0]!, uid: 'u2', containers, cgroup: {mount: join(node.root, 'cgroup'), unified: true, path: 'gone'}},
  ];
  const source = node.source();
  const answer = source.get(false);
  await expect.poll(() => node.asked).toBe(1);
  const {pods} = await node.after(1_000, answer);
  expect(pods.map(({uid}) => uid)).toEqual(['u1']);
  source.stop();
});

test('probes are counted by pod, container, kind and result, and timed', () => {
  const probes = new ProbeCounts();
  const pod = podOf({}, {name: 'web', namespace: 'ns', uid: 'u1'});
  probes.count('liveness', pod, 'main', 'failure', 0.02);
  probes.count('liveness', pod, 'main', 'failure', 3);
  probes.count('liveness', pod, 'main', 'success', 0.001);
  const lines = probes.text().split('\n');
  const labels = 'container="main",namespace="ns",pod="web"';
  expect(lines).toContain(`prober_probe_total{${labels},pod_uid="u1",probe_type="Liveness",result="failed"} 2`);
  expect(lines).toContain(`prober_probe_total{${labels},pod_uid="u1",probe_type="Liveness",result="successful"} 1`);
  expect(lines).toContain(`prober_probe_duration_seconds_bucket{${labels},probe_type="Liveness",le="0.025"} 2`);
  expect(lines).toContain(`prober_probe_duration_seconds_bucket{${labels},probe_type="Liveness",le="+Inf"} 3`);
  expect(lines).toContain(`prober_probe_duration_seconds_count{${labels},probe_type="Liveness"} 3`);
});
