/** What the whole machine uses, from /proc: the figures of the node itself, and the network of a process. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';

export interface MachineUsage {
  cpuNanoseconds: number;
  memoryUsage: number;
  workingSet: number;
  memoryAvailable: number;
  rss: number;
  pageFaults: number;
  majorPageFaults: number;
  swapUsage: number;
  swapAvailable: number;
}

export interface InterfaceUsage {
  name: string;
  rxBytes: number;
  rxPackets: number;
  rxErrors: number;
  rxDropped: number;
  txBytes: number;
  txPackets: number;
  txErrors: number;
  txDropped: number;
}

const nanosPerTick = 1e7;

export class Proc {
  readonly #root: string;

  constructor(root = '/proc') {
    this.#root = root;
  }

  /** Of all CPUs since the machine began, without what they waited. */
  cpu(): number {
    const line = /^cpu +(.*)$/m.exec(this.#text('stat'))?.[1] ?? '';
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).map(Number);
    return (user + nice + system + irq + softirq) * nanosPerTick;
  }

  /** The working set is what is used but for files that nobody has looked at lately: as the root cgroup counts, on version 2 at least. */
  machine(): MachineUsage {
    const memory = new Map([...this.#text('meminfo').matchAll(/^(\S+):\s+(\d+)/gm)].map(([, name, kib]) => [name!, Number(kib) * 1024]));
    const faults = new Map([...this.#text('vmstat').matchAll(/^(pg\w*fault) (\d+)$/gm)].map(([, name, count]) => [name!, Number(count)]));
    const of = (name: string): number => memory.get(name) ?? 0;
    const memoryUsage = of('MemTotal') - of('MemFree');
    const workingSet = Math.max(0, memoryUsage - of('Inactive(file)'));
    return {
      cpuNanoseconds: this.cpu(),
      memoryUsage,
      workingSet,
      memoryAvailable: of('MemTotal') - workingSet,
      rss: of('AnonPages'),
      pageFaults: faults.get('pgfault') ?? 0,
      majorPageFaults: faults.get('pgmajfault') ?? 0,
      swapUsage: of('SwapTotal') - of('SwapFree'),
      swapAvailable: of('SwapFree'),
    };
  }

  /** Of the network that a process is in; the machine's own by default. The loopback interface carries nothing to anywhere. */
  interfaces(process: number | 'self' = 'self'): InterfaceUsage[] {
    return this.#text(join(String(process), 'net', 'dev'))
      .split('\n')
      .flatMap((line) => {
        const [, name, counts] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
        if (!name || name === 'lo') return [];
        const [rxBytes = 0, rxPackets = 0, rxErrors = 0, rxDropped = 0, , , , , txBytes = 0, txPackets = 0, txErrors = 0, txDropped = 0] =
          counts!.trim().split(/\s+/).map(Number);
        return [{name, rxBytes, rxPackets, rxErrors, rxDropped, txBytes, txPackets, txErrors, txDropped}];
      });
  }

  /** Processes and threads now, and how many there can be. */
  tasks(): {running: number; most: number} {
    const running = Number(/\/(\d+)/.exec(this.#text('loadavg'))?.[1] ?? 0);
    return {running, most: Number.parseInt(this.#text('sys/kernel/pid_max'), 10) || 0};
  }

  #text(file: string): string {
    try {
      return readFileSync(join(this.#root, file), 'utf8');
    } catch {
      return '';
    }
  }
}
