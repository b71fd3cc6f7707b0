/** What pods can leave behind on a machine, counted; and what takes it away after a test, whatever state the test left it in. */
import {existsSync} from 'node:fs';
import {readdir, readFile, rm, rmdir} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import type {TestRuntime} from './containerd.ts';

export interface Leftovers {
  sandboxes: number;
  containers: number;
  shims: number;
  /** Below the agent's folder; its memory volume is not a pod's. */
  volumeMounts: number;
  /** Below the runtime's folder: file systems of containers, network namespaces. */
  runtimeMounts: number;
  networkNamespaces: number;
  /** That the network plugin holds for a pod. */
  addresses: number;
  /** Ends of pods' links on the bridge. */
  links: number;
  /** Of pods, in all trees. */
  cgroups: number;
  /** Folders of the agent's for pods, volumes included. */
  podFolders: number;
}

export const nothing: Leftovers = {
  ...{sandboxes: 0, containers: 0, shims: 0, volumeMounts: 0, runtimeMounts: 0, networkNamespaces: 0},
  ...{addresses: 0, links: 0, cgroups: 0, podFolders: 0},
};

/** `rootDir`: the agent's. */
export async function leftovers({runtime, folder, bridge, cgroupRoot}: TestRuntime, rootDir: string): Promise<Leftovers> {
  const [sandboxes, containers] = [await runtime.sandboxes(), await runtime.containers()];
  const volumeMounts = (await mountsBelow(rootDir)).filter((point) => point !== join(rootDir, 'memory'));
  const runtimeMounts = await mountsBelow(folder);
  return {
    sandboxes: sandboxes.length,
    containers: containers.length,
    shims: (await shimsOf(join(folder, 'containerd.sock'))).filter(({id}) => existsSync(join(bundlesOf(folder), id))).length,
    volumeMounts: volumeMounts.length,
    runtimeMounts: runtimeMounts.length,
    networkNamespaces: runtimeMounts.filter((point) => point.includes('/netns/')).length,
    addresses: (await list(join(folder, 'addresses', bridge))).filter((name) => /^\d+\.\d+\.\d+\.\d+$/.test(name)).length,
    links: (await list(`/sys/class/net/${bridge}/brif`)).length,
    cgroups: (await cgroupsBelow(cgroupRoot)).filter((path) => /\/pod[0-9a-f-]{32,36}$/.test(path)).length,
    podFolders: (await list(join(rootDir, 'pods'))).length,
  };
}

const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** Deepest first. */
export async function mountsBelow(folder: string): Promise<string[]> {
  const points = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  return points.filter((point) => point.startsWith(`${folder}/`)).sort((a, b) => b.length - a.length);
}

async function processesWith(text: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await list('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(text)) found.push(Number(pid));
  }
  return found;
}

const bundlesOf = (folder: string): string => join(folder, 'state', 'io.containerd.runtime.v2.task', 'k8s.io');

interface Shim {
  pid: number;
  /** Of the sandbox that it was made for. */
  id: string;
}

/** Shims outlive the runtime; they have its socket on their command line. */
async function shimsOf(socket: string): Promise<Shim[]> {
  const pids = await processesWith(`-address\0${socket}\0`);
  return Promise.all(
    pids.map(async (pid) => ({pid, id: /-id\0([^\0]+)/.exec(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))?.[1] ?? ''})),
  );
}

/**
 * Shims that serve nothing and that the runtime itself has forgotten: containerd loses one when its client dies while a sandbox is being made.
 * Nobody who speaks CRI can find or end them.
 */
export async function lostShims({folder}: TestRuntime): Promise<number> {
  return (await shimsOf(join(folder, 'containerd.sock'))).filter(({id}) => !existsSync(join(bundlesOf(folder), id))).length;
}

export async function endShims(socket: string): Promise<void> {
  for (const {pid: shim} of await shimsOf(socket)) {
    const children = await readFile(`/proc/${shim}/task/${shim}/children`, 'utf8').catch(() => '');
    for (const pid of [...children.split(' ').filter(Boolean).map(Number), shim]) await end(pid);
  }
}

/** One that was started with these arguments, by nobody else but us. */
export async function endProcess(commandLine: string): Promise<void> {
  for (const pid of await processesWith(commandLine)) await end(pid);
}

async function end(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return;
  }
  // A zombie has no command line.
  for (let tries = 0; tries < 100 && (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) !== ''; tries++) await pause(20);
}

const cgroupMount = '/sys/fs/cgroup';

/** Deepest first, in every tree; the root itself last. */
async function cgroupsBelow(root: string): Promise<string[]> {
  const trees = existsSync(join(cgroupMount, 'cgroup.controllers'))
    ? [cgroupMount]
    : (await readdir(cgroupMount)).map((name) => join(cgroupMount, name));
  const walk = async (folder: string): Promise<string[]> => {
    const entries = await readdir(folder, {withFileTypes: true}).catch(() => []);
    const below = await Promise.all(entries.filter((entry) => entry.isDirectory()).map(({name}) => walk(join(folder, name))));
    return [...below.flat(), folder];
  };
  return (
    await Promise.all(
      trees
        .map((tree) => join(tree, root))
        .filter(existsSync)
        .map(walk),
    )
  ).flat();
}

export async function removeCgroups(root: string): Promise<void> {
  if (root.length < 2) return;
  for (const folder of await cgroupsBelow(root)) {
    // The kernel notices a moment late that the last process is gone.
    for (let tries = 0; tries < 50; tries++) {
      const gone = await rmdir(folder).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
      );
      if (gone) break;
      await pause(20);
    }
  }
}

export async function removeFolder(folder: string): Promise<void> {
  if ((await mountsBelow(folder)).length > 0) throw new Error(`still mounted below ${folder}`);
  await rm(folder, {recursive: true, force: true});
}
