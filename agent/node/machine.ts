/** The machine that we are on: what it has, what it calls itself, where it is reached. Read once, but for what changes. */
import {readFile, statfs} from 'node:fs/promises';
import os from 'node:os';

export interface Machine {
  hostname: string;
  cpus: number;
  memoryBytes: number;
  hugepages: Record<string, string>;
  machineId: string;
  systemUuid: string;
  bootId: string;
  kernel: string;
  osImage: string;
  architecture: string;
}

const architectures: Readonly<Record<string, string>> = {x64: 'amd64', ia32: '386'};

export async function readMachine(): Promise<Machine> {
  const text = async (path: string): Promise<string> => (await readFile(path, 'utf8').catch(() => '')).trim();
  const [meminfo, release, machineId, systemUuid, bootId] = await Promise.all([
    text('/proc/meminfo'),
    text('/etc/os-release'),
    text('/etc/machine-id'),
    text('/sys/class/dmi/id/product_uuid'),
    text('/proc/sys/kernel/random/boot_id'),
  ]);
  const kib = Number(/^MemTotal:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? 0);
  return {
    hostname: os.hostname().trim().toLowerCase(),
    cpus: os.cpus().length || os.availableParallelism(),
    memoryBytes: kib > 0 ? kib * 1024 : os.totalmem(),
    hugepages: hugepagesOf(meminfo),
    machineId,
    systemUuid: systemUuid || machineId,
    bootId,
    kernel: os.release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(release)?.[1] ?? 'Linux',
    architecture: architectures[process.arch] ?? process.arch,
  };
}

function hugepagesOf(meminfo: string): Record<string, string> {
  const total = Number(/^HugePages_Total:\s+(\d+)/m.exec(meminfo)?.[1] ?? 0);
  const kib = Number(/^Hugepagesize:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? 0);
  if (kib === 0) return {};
  const size = kib >= 1024 * 1024 ? `${kib / 1024 / 1024}Gi` : kib >= 1024 ? `${kib / 1024}Mi` : `${kib}Ki`;
  return {[`hugepages-${size}`]: total === 0 ? '0' : `${(total * kib) / 1024}Mi`};
}

export interface Disk {
  totalBytes: number;
  availableBytes: number;
  inodes: number;
  inodesFree: number;
}

export async function diskOf(path: string): Promise<Disk> {
  const {bsize, blocks, bavail, files, ffree} = await statfs(path);
  return {totalBytes: bsize * blocks, availableBytes: bsize * bavail, inodes: files, inodesFree: ffree};
}

/** Bytes that could be given out: what is neither used nor held by caches that could go. */
export async function availableMemory(): Promise<number> {
  const meminfo = await readFile('/proc/meminfo', 'utf8');
  return Number(/^MemAvailable:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? 0) * 1024;
}

/** The address of the interface with the default route, or of the first that has one: no loopback, no link-local. */
export async function defaultAddresses(): Promise<string[]> {
  const routes = await readFile('/proc/net/route', 'utf8').catch(() => '');
  const first = routes
    .split('\n')
    .map((line) => line.split('\t'))
    .find((fields) => fields[1] === '00000000')?.[0];
  const interfaces = os.networkInterfaces();
  const usable = (name: string) =>
    (interfaces[name] ?? []).filter(({internal, address}) => !internal && !/^(fe80:|169\.254\.)/i.test(address));
  const names = [...(first ? [first] : []), ...Object.keys(interfaces).filter((name) => name !== first)];
  for (const name of names) {
    const found = usable(name);
    const chosen = found.find(({family}) => family === 'IPv4') ?? found[0];
    if (chosen) return [chosen.address];
  }
  return [];
}
