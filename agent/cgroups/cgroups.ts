/**
 * The cgroups above containers: one for all pods, one for each class below Guaranteed, one for each pod. The runtime makes what is below, and
 * leaves the pod's own behind: it is removed here. On version 1 (one tree a controller) and version 2 (one tree).
 */
import {mkdir, readdir, readFile, rmdir, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../pods/pod.ts';
import {bytesOf, cpuQuota, cpuShares, milliCpu, podLimit, podRequests, type QosClass, qosClass} from '../pods/resources.ts';

export interface CgroupOptions {
  /** `/sys/fs/cgroup`; another folder in tests. */
  mount: string;
  /** --cgroup-root, below which `kubepods` lies. */
  root: string;
  /** `systemd` names slices, and leaves making them to the runtime. */
  driver: 'cgroupfs' | 'systemd';
  perQos: boolean;
  cfsQuota: boolean;
  cfsPeriodMicros: number;
  /** Of a pod; none: as many as the node allows. */
  podPids?: number;
}

export interface Cgroups {
  /** What the runtime is told, made and filled; '' where the agent keeps no cgroups. */
  prepare(pod: Pod): Promise<string>;
  /** What grows before `work`, what shrinks after it. */
  resize(before: Pod, after: Pod, work: () => Promise<void>): Promise<void>;
  remove(uid: string, qos: QosClass | undefined): Promise<void>;
  /**
   * `remove`, of a pod of ours that the runtime knows nothing of any more: processes that are still there were forgotten by a runtime that was
   * killed, and are ended. Never of a pod that may be another agent's.
   */
  clear(uid: string, qos: QosClass | undefined): Promise<void>;
  /** Classes get the sum of what their pods ask for. */
  balance(pods: Iterable<Pod>): Promise<void>;
  /** Uids whose cgroups are there. */
  present(): Promise<string[]>;
  /** Where the kernel counts what a pod uses. */
  where(pod: Pod): Whereabouts | undefined;
}

export interface Whereabouts {
  mount: string;
  /** Version 2. */
  unified: boolean;
  /** Below the mount; on version 1 below each controller's. */
  path: string;
}

const top = 'kubepods';
const maxKillLooks = 50;
const controllersV1 = ['cpu', 'memory', 'pids'] as const;
const classes = ['burstable', 'besteffort'] as const;

/** No cgroups where the machine has none that can be written. */
export async function openCgroups(options: CgroupOptions, warn: (text: string) => void): Promise<Cgroups> {
  if (!options.perQos) return noCgroups;
  const unified = (await stat(join(options.mount, 'cgroup.controllers')).catch(() => undefined)) !== undefined;
  const tree = new Tree(options, unified);
  if (options.driver === 'systemd') return tree;
  try {
    await tree.open();
    return tree;
  } catch (error) {
    warn(`pods get no cgroups of their own: ${(error as Error).message}`);
    return noCgroups;
  }
}

export const noCgroups: Cgroups = {
  prepare: async () => '',
  resize: (_before, _after, work) => work(),
  remove: async () => {},
  clear: async () => {},
  balance: async () => {},
  present: async () => [],
  where: () => undefined,
};

class Tree implements Cgroups {
  readonly #options: CgroupOptions;
  readonly #unified: boolean;
  #lastShares = '';
  #trees: string[] | undefined;

  constructor(options: CgroupOptions, unified: boolean) {
    this.#options = options;
    this.#unified = unified;
  }

  async open(): Promise<void> {
    for (const folder of ['', ...classes]) for (const base of this.#bases()) await this.#make(base, join(top, folder));
    await this.#write('cpu', join(top, 'besteffort'), this.#cpuWeight(2));
  }

  async prepare(pod: Pod): Promise<string> {
    const path = this.#pathOf(pod.metadata.uid, qosClass(pod));
    if (this.#options.driver === 'systemd') return sliceOf(pod.metadata.uid, qosClass(pod));
    await Promise.all(this.#bases().map((base) => this.#make(base, path)));
    await Promise.all(this.#settings(pod).map(([controller, files]) => this.#write(controller, path, files)));
    return join('/', this.#options.root, path);
  }

  async resize(before: Pod, after: Pod, work: () => Promise<void>): Promise<void> {
    if (this.#options.driver === 'systemd') return work();
    const path = this.#pathOf(after.metadata.uid, qosClass(after));
    const old = new Map(
      this.#settings(before).flatMap(([controller, files]) =>
        Object.entries(files).map(([name, value]) => [`${controller}/${name}`, value]),
      ),
    );
    // A limit where there was none takes something away.
    const grows = (controller: string, name: string, value: string) =>
      Number.parseInt(old.get(`${controller}/${name}`) ?? 'Infinity', 10) < Number.parseInt(value, 10);
    const write = async (growing: boolean) => {
      for (const [controller, files] of this.#settings(after)) {
        const chosen = Object.entries(files).filter(([name, value]) => grows(controller, name, value) === growing);
        if (chosen.length > 0) await this.#write(controller, path, Object.fromEntries(chosen));
      }
    };
    await write(true);
    await work();
    await write(false);
  }

  async remove(uid: string, qos: QosClass | undefined): Promise<void> {
    const folders = await this.#foldersOf(uid, qos);
    const results = await Promise.allSettled(folders.map(removeTree));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async clear(uid: string, qos: QosClass | undefined): Promise<void> {
    try {
      await this.remove(uid, qos);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
      for (const folder of await this.#foldersOf(uid, qos)) await killAll(folder);
      await this.remove(uid, qos);
    }
  }

  async #foldersOf(uid: string, qos: QosClass | undefined): Promise<string[]> {
    if (this.#options.driver === 'systemd') return [];
    const paths = qos
      ? [this.#pathOf(uid, qos)]
      : (['Guaranteed', 'Burstable', 'BestEffort'] as const).map((each) => this.#pathOf(uid, each));
    return (await this.#allBases()).flatMap((base) => paths.map((path) => join(base, this.#options.root, path)));
  }

  async balance(pods: Iterable<Pod>): Promise<void> {
    if (this.#options.driver === 'systemd') return;
    let milli = 0;
    for (const pod of pods) if (qosClass(pod) === 'Burstable') milli += milliCpu(podRequests(pod).cpu ?? '0');
    const shares = cpuShares(milli);
    // Each write wakes the kernel's scheduler; most changes of pods change nothing here.
    if (this.#lastShares === String(shares)) return;
    this.#lastShares = String(shares);
    await this.#write('cpu', join(top, 'burstable'), this.#cpuWeight(shares));
  }

  async present(): Promise<string[]> {
    const found = new Set<string>();
    for (const base of this.#bases())
      for (const folder of ['', ...classes]) {
        const entries = await readdir(join(base, this.#options.root, top, folder)).catch(() => []);
        for (const entry of entries) if (/^pod[0-9a-f-]{32,36}$/.test(entry)) found.add(entry.slice(3));
      }
    return [...found];
  }

  where(pod: Pod): Whereabouts {
    const {mount, root, driver} = this.#options;
    const qos = qosClass(pod);
    const path = driver === 'systemd' ? slicesOf(pod.metadata.uid, qos) : this.#pathOf(pod.metadata.uid, qos);
    return {mount, unified: this.#unified, path: join(root, path)};
  }

  #pathOf(uid: string, qos: QosClass): string {
    return join(top, qos === 'Guaranteed' ? '' : qos.toLowerCase(), `pod${uid}`);
  }

  #bases(): string[] {
    return this.#unified ? [this.#options.mount] : controllersV1.map((name) => join(this.#options.mount, name));
  }

  /** The runtime puts its containers into every tree there is. */
  async #allBases(): Promise<string[]> {
    if (this.#unified) return [this.#options.mount];
    this.#trees ??= (await readdir(this.#options.mount, {withFileTypes: true}))
      // Some have two names, the second is a link.
      .filter((entry) => entry.isDirectory())
      .map(({name}) => join(this.#options.mount, name));
    return this.#trees;
  }

  async #make(base: string, path: string): Promise<void> {
    const whole = join(base, this.#options.root, path);
    await makeFolder(whole);
    if (!this.#unified) return;
    // Children may use a controller only where each cgroup above hands it on.
    const steps = join(this.#options.root, path).split('/').filter(Boolean);
    for (let depth = 0; depth <= steps.length; depth++) {
      const folder = join(base, ...steps.slice(0, depth));
      const [enabled, wanted] = await Promise.all([
        readFile(join(folder, 'cgroup.subtree_control'), 'utf8').catch(() => ''),
        readFile(join(folder, 'cgroup.controllers'), 'utf8').catch(() => ''),
      ]);
      const missing = wanted.split(/\s+/).filter((name) => name && !enabled.split(/\s+/).includes(name));
      for (const name of missing) await writeFile(join(folder, 'cgroup.subtree_control'), `+${name}`).catch(() => {});
    }
  }

  #settings(pod: Pod): [controller: string, files: Record<string, string>][] {
    const {cfsQuota, cfsPeriodMicros, podPids} = this.#options;
    const requested = podRequests(pod);
    const shares = cpuShares(milliCpu(requested.cpu ?? '0'));
    const [cpu, memory] = [podLimit(pod, 'cpu'), podLimit(pod, 'memory')];
    const quota = cfsQuota && cpu ? cpuQuota(milliCpu(cpu), cfsPeriodMicros) : undefined;
    const result: [string, Record<string, string>][] = [];
    const cpuFiles = this.#cpuWeight(qosClass(pod) === 'BestEffort' ? 2 : shares);
    if (quota && this.#unified) cpuFiles['cpu.max'] = `${quota} ${cfsPeriodMicros}`;
    else if (quota) Object.assign(cpuFiles, {'cpu.cfs_period_us': String(cfsPeriodMicros), 'cpu.cfs_quota_us': String(quota)});
    result.push(['cpu', cpuFiles]);
    if (memory) result.push(['memory', {[this.#unified ? 'memory.max' : 'memory.limit_in_bytes']: String(bytesOf(memory))}]);
    if (podPids !== undefined && podPids > 0) result.push(['pids', {'pids.max': String(podPids)}]);
    return result;
  }

  /** Version 2 weighs from 1 to 10,000 what version 1 weighs from 2 to 262,144. */
  #cpuWeight(shares: number): Record<string, string> {
    if (!this.#unified) return {'cpu.shares': String(shares)};
    return {'cpu.weight': String(Math.max(1, Math.min(10_000, Math.round(1 + ((shares - 2) * 9999) / 262_142))))};
  }

  async #write(controller: string, path: string, files: Record<string, string>): Promise<void> {
    const base = this.#unified ? this.#options.mount : join(this.#options.mount, controller);
    for (const [name, value] of Object.entries(files)) await writeFile(join(base, this.#options.root, path, name), value);
  }
}

const sliceOf = (uid: string, qos: QosClass): string => {
  const parent = qos === 'Guaranteed' ? top : `${top}-${qos.toLowerCase()}`;
  return `${parent}-pod${uid.replaceAll('-', '_')}.slice`;
};

/** Slices lie in the slices that their names begin with. */
const slicesOf = (uid: string, qos: QosClass): string =>
  join(`${top}.slice`, ...(qos === 'Guaranteed' ? [] : [`${top}-${qos.toLowerCase()}.slice`]), sliceOf(uid, qos));

/** The folder above is mostly there: then this is one call. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') await mkdir(path, {recursive: true});
    else if (code !== 'EEXIST') throw error;
  }
}

/** A cgroup's files cannot be removed, only its folders, the deepest first. */
async function removeTree(folder: string): Promise<void> {
  // The runtime has mostly removed what was below.
  if (await isRemoved(folder)) return;
  const entries = await readdir(folder, {withFileTypes: true}).catch(() => undefined);
  if (!entries) return;
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  for (let attempt = 0; ; attempt++) {
    try {
      await rmdir(folder);
      return;
    } catch (error) {
      const {code} = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      // The last process is gone, but the kernel has not noticed yet.
      if (code !== 'EBUSY' || attempt >= 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Every process in it and below, as often as new ones appear. */
async function killAll(folder: string): Promise<void> {
  const entries = await readdir(folder, {withFileTypes: true}).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await killAll(join(folder, entry.name));
  for (let looks = 0; looks < maxKillLooks; looks++) {
    const pids = (await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
    // 0 stands for a process of another namespace: signalled, it would be our own group.
    if (pids.length === 0) return;
    for (const pid of pids.filter((each) => each > 1))
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function isRemoved(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
