/**
 * What a cgroup's processes use, as the kernel counts it: version 1 (a tree a controller) and version 2 (one tree). Read without waiting: a
 * file of the kernel's takes some ten microseconds, and going through the thread pool for it takes longer.
 */
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

export interface CgroupUsage {
  cpuNanoseconds: number;
  memoryUsage: number;
  workingSet: number;
  /** Lines of memory.stat that both versions have, in version 2's words where they differ. */
  rss: number;
  cache: number;
  mappedFile: number;
  activeFile: number;
  inactiveFile: number;
  pageFaults: number;
  majorPageFaults: number;
}

/** What only the long metrics tell. */
export interface CgroupDetails {
  userNanoseconds: number;
  systemNanoseconds: number;
  /** Absent without a quota. */
  throttling: {periods: number; throttledPeriods: number; throttledNanoseconds: number} | undefined;
  swapBytes: number;
  maxUsage: number;
  failures: number;
  /** Absent without a limit. */
  memoryLimit: number | undefined;
  processes: number;
  threads: number;
}

/** Of those that the kernel counts on version 1. */
const nanosPerTick = 1e7;
/** What version 1 says for no limit is a page below the largest number. */
const noLimit = 2 ** 62;

export class CgroupReader {
  readonly #mount: string;
  readonly #unified: boolean;

  constructor(mount: string, unified: boolean) {
    this.#mount = mount;
    this.#unified = unified;
  }

  /** Undefined where there is no such cgroup (any more). */
  cpu(path: string): number | undefined {
    if (!this.#unified) return number(this.#text('cpuacct', path, 'cpuacct.usage'));
    const micros = table(this.#text('', path, 'cpu.stat')).get('usage_usec');
    return micros === undefined ? undefined : micros * 1000;
  }

  usage(path: string): CgroupUsage | undefined {
    const cpuNanoseconds = this.cpu(path);
    const memoryUsage = number(this.#text('memory', path, this.#unified ? 'memory.current' : 'memory.usage_in_bytes'));
    if (cpuNanoseconds === undefined || memoryUsage === undefined) return undefined;
    const stat = table(this.#text('memory', path, 'memory.stat'));
    // On version 1 the plain lines leave out what is below.
    const of = (first: string, second: string): number => stat.get(this.#unified ? second : `total_${first}`) ?? 0;
    const inactiveFile = of('inactive_file', 'inactive_file');
    return {
      cpuNanoseconds,
      memoryUsage,
      workingSet: Math.max(0, memoryUsage - inactiveFile),
      rss: of('rss', 'anon'),
      cache: of('cache', 'file'),
      mappedFile: of('mapped_file', 'file_mapped'),
      activeFile: of('active_file', 'active_file'),
      inactiveFile,
      pageFaults: of('pgfault', 'pgfault'),
      majorPageFaults: of('pgmajfault', 'pgmajfault'),
    };
  }

  details(path: string): CgroupDetails {
    const cpuStat = table(this.#text('cpu', path, 'cpu.stat'));
    const hasPeriods = (cpuStat.get('nr_periods') ?? 0) > 0;
    const common = {processes: this.processes(path).length, threads: number(this.#text('pids', path, 'pids.current')) ?? 0};
    const value = (controller: string, file: string): number | undefined => number(this.#text(controller, path, file));
    if (this.#unified)
      return {
        ...common,
        userNanoseconds: (cpuStat.get('user_usec') ?? 0) * 1000,
        systemNanoseconds: (cpuStat.get('system_usec') ?? 0) * 1000,
        throttling: hasPeriods ? throttling(cpuStat, (cpuStat.get('throttled_usec') ?? 0) * 1000) : undefined,
        swapBytes: value('', 'memory.swap.current') ?? 0,
        maxUsage: value('', 'memory.peak') ?? 0,
        failures: table(this.#text('', path, 'memory.events')).get('max') ?? 0,
        memoryLimit: value('', 'memory.max'),
      };
    const ticks = table(this.#text('cpuacct', path, 'cpuacct.stat'));
    const limit = value('memory', 'memory.limit_in_bytes');
    return {
      ...common,
      userNanoseconds: (ticks.get('user') ?? 0) * nanosPerTick,
      systemNanoseconds: (ticks.get('system') ?? 0) * nanosPerTick,
      throttling: hasPeriods ? throttling(cpuStat, cpuStat.get('throttled_time') ?? 0) : undefined,
      swapBytes: table(this.#text('memory', path, 'memory.stat')).get('total_swap') ?? 0,
      maxUsage: value('memory', 'memory.max_usage_in_bytes') ?? 0,
      failures: value('memory', 'memory.failcnt') ?? 0,
      memoryLimit: limit !== undefined && limit < noLimit ? limit : undefined,
    };
  }

  /** Their ids, as this process sees them. */
  processes(path: string): number[] {
    const text = this.#text('memory', path, 'cgroup.procs') ?? '';
    return text.split('\n').filter(Boolean).map(Number);
  }

  /** Names of the cgroups right below. */
  below(path: string): string[] {
    try {
      return readdirSync(this.#folder('memory', path), {withFileTypes: true})
        .filter((entry) => entry.isDirectory())
        .map(({name}) => name);
    } catch {
      return [];
    }
  }

  #folder(controller: string, path: string): string {
    return this.#unified ? join(this.#mount, path) : join(this.#mount, controller, path);
  }

  #text(controller: string, path: string, file: string): string | undefined {
    try {
      return readFileSync(join(this.#folder(controller, path), file), 'utf8');
    } catch {
      return undefined;
    }
  }
}

const throttling = (stat: ReadonlyMap<string, number>, throttledNanoseconds: number) => ({
  periods: stat.get('nr_periods') ?? 0,
  throttledPeriods: stat.get('nr_throttled') ?? 0,
  throttledNanoseconds,
});

/** Undefined for what is not there, and for `max`. */
function number(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isFinite(value) ? value : undefined;
}

/** `name value` on each line. */
function table(text: string | undefined): Map<string, number> {
  const result = new Map<string, number>();
  for (const line of (text ?? '').split('\n')) {
    const space = line.indexOf(' ');
    if (space > 0) result.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return result;
}
