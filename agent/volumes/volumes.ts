/**
 * The volumes of a pod on this machine: made before its containers, kept up to date while they run, taken away when they are gone. What is
 * there is read from the disk and the mount table, never from memory, so a restart changes nothing.
 */
import {chmod, chown, lstat, mkdir, readdir, rm, stat} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod, Volume} from '../pods/pod.ts';
import {bytesOf, podLimit} from '../pods/resources.ts';
import {writeAtomically} from './atomic-writer.ts';
import {prepareHostPath} from './host-path.ts';
import type {Mounter} from './mounts.ts';
import {giveToGroup} from './ownership.ts';
import {type PayloadInput, payloadOf} from './payload.ts';
import {mountSubpath} from './subpath.ts';

export interface VolumesOptions {
  /** `<root-dir>/pods`, and a folder whose files never reach a disk. */
  root: string;
  memory: string;
  mounter: Mounter;
  /** Of a machine without rights to mount: memory-backed volumes are then folders. */
  canMount: boolean;
}

/** Which volume, and why not. */
export class VolumeError extends Error {
  readonly volume: string;

  constructor(volume: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), {cause});
    this.volume = volume;
  }
}

const inMemory = (volume: Volume): boolean =>
  Boolean(volume.secret || volume.projected?.sources?.some(({secret, serviceAccountToken}) => secret || serviceAccountToken));
const kinds = ['emptyDir', 'hostPath', 'configMap', 'secret', 'downwardAPI', 'projected', 'nfs'] as const;

export class Volumes {
  readonly #options: VolumesOptions;
  #memoryReady: Promise<void> | undefined;

  constructor(options: VolumesOptions) {
    this.#options = options;
  }

  folderOf(uid: string): string {
    return join(this.#options.root, uid);
  }

  /** Host paths by volume name. Again is cheap, and brings payloads up to date. @throws VolumeError for the first that fails */
  async prepare(pod: Pod, input: PayloadInput): Promise<Map<string, string>> {
    const made = await Promise.all(
      (pod.spec.volumes ?? []).map(async (volume) => {
        try {
          return [volume.name, await this.#prepareOne(pod, volume, input)] as const;
        } catch (error) {
          throw new VolumeError(volume.name, error);
        }
      }),
    );
    return new Map(made);
  }

  /** Payloads again, of a pod that runs. Whether any changed. */
  async refresh(pod: Pod, input: PayloadInput): Promise<boolean> {
    let changed = false;
    for (const volume of pod.spec.volumes ?? []) {
      const payload = await payloadOf(pod, volume, input);
      if (payload && (await writeAtomically(this.#pathOf(pod, volume), payload, pod.spec.securityContext?.fsGroup))) changed = true;
    }
    return changed;
  }

  async subpath(pod: Pod, container: string, index: number, volume: string, part: string, readOnly: boolean): Promise<string> {
    const target = join(this.folderOf(pod.metadata.uid), 'subpaths', container, String(index));
    return mountSubpath(this.#options.mounter, volume, part, target, readOnly);
  }

  /** Unmounts all of a pod's volumes and removes what they held; hostPaths stay. */
  async teardown(uid: string): Promise<void> {
    const folders = await this.#foldersOf(uid);
    if (folders.length > 0) await this.#unmount(uid);
    await Promise.all([join(this.#options.memory, uid), ...folders].map((folder) => rm(folder, {recursive: true, force: true})));
  }

  /** All that is left of a pod. */
  async remove(uid: string): Promise<void> {
    await this.teardown(uid);
    await rm(this.folderOf(uid), {recursive: true, force: true});
  }

  /** Uids of pods that have left something. */
  async present(): Promise<string[]> {
    return readdir(this.#options.root).catch(() => []);
  }

  /** Bytes and inodes of an emptyDir on a disk, by walking it. */
  async usage(pod: Pod, volume: Volume): Promise<number> {
    return usedBytes(this.#pathOf(pod, volume));
  }

  /** In which something can be mounted: most pods have none, and the table of mounts is long on a full node. */
  async #foldersOf(uid: string): Promise<string[]> {
    const entries: string[] = await readdir(this.folderOf(uid)).catch(() => []);
    return ['volumes', 'subpaths'].filter((name) => entries.includes(name)).map((name) => join(this.folderOf(uid), name));
  }

  async #unmount(uid: string): Promise<void> {
    const {mounter} = this.#options;
    const points = await mounter.below(this.folderOf(uid));
    if (points.length === 0) return;
    for (const point of points) await mounter.unmount(point);
    // Removing below a mount that is still there would remove what is mounted.
    const left = await mounter.below(this.folderOf(uid));
    if (left.length > 0) throw new Error(`still mounted: ${left.join(' ')}`);
  }

  #pathOf({metadata}: Pod, volume: Volume): string {
    if (volume.hostPath) return volume.hostPath.path;
    if (inMemory(volume)) return join(this.#options.memory, metadata.uid, volume.name);
    return join(this.folderOf(metadata.uid), 'volumes', volume.name);
  }

  async #prepareOne(pod: Pod, volume: Volume, input: PayloadInput): Promise<string> {
    const kind = kinds.find((name) => volume[name]);
    if (!kind) {
      const [unknown = 'none'] = Object.keys(volume).filter((name) => name !== 'name');
      throw new Error(`volumes of kind ${unknown} are not supported on this node`);
    }
    const path = this.#pathOf(pod, volume);
    const group = pod.spec.securityContext?.fsGroup;
    if (volume.hostPath) {
      await prepareHostPath(volume.hostPath);
      return path;
    }
    if (inMemory(volume)) await this.#needMemory();
    await mkdir(path, {recursive: true, mode: 0o750});
    if (volume.emptyDir) await this.#emptyDir(pod, volume, path, group);
    else if (volume.nfs) await this.#nfs(volume.nfs, path);
    else {
      const payload = (await payloadOf(pod, volume, input))!;
      await openFolder(path, group, 0o755);
      await writeAtomically(path, payload, group);
    }
    return path;
  }

  async #emptyDir(pod: Pod, {emptyDir}: Volume, path: string, group: number | undefined): Promise<void> {
    const {medium = '', sizeLimit} = emptyDir!;
    if (medium === 'Memory' && this.#options.canMount && !(await this.#options.mounter.below(path)).includes(path)) {
      // The whole pod's memory is the most that its volume can hold anyway.
      const limits = [sizeLimit, podLimit(pod, 'memory')].flatMap((limit) => (limit && limit !== '0' ? [bytesOf(limit)] : []));
      const options = limits.length > 0 ? [`size=${Math.min(...limits)}`] : [];
      await this.#options.mounter.mount('tmpfs', path, 'tmpfs', options);
    } else if (medium.startsWith('HugePages')) throw new Error('emptyDir on huge pages is not supported on this node');
    const before = await stat(path);
    await openFolder(path, group, 0o777);
    if (group !== undefined && before.gid !== group)
      await giveToGroup(path, group, pod.spec.securityContext?.fsGroupChangePolicy === 'OnRootMismatch');
  }

  async #nfs({server, path: exported, readOnly}: NonNullable<Volume['nfs']>, path: string): Promise<void> {
    if ((await this.#options.mounter.below(path)).includes(path)) return;
    await this.#options.mounter.mount(`${server}:${exported}`, path, 'nfs', readOnly ? ['ro'] : []);
  }

  /** One file system in memory serves the secrets and tokens of all pods: a mount less per volume, and one to take away. */
  #needMemory(): Promise<void> {
    this.#memoryReady ??= this.#mountMemory().catch((error) => {
      this.#memoryReady = undefined;
      throw error;
    });
    return this.#memoryReady;
  }

  async #mountMemory(): Promise<void> {
    const {memory, mounter, canMount} = this.#options;
    await mkdir(memory, {recursive: true, mode: 0o750});
    if (!canMount || (await mounter.below(memory)).includes(memory)) return;
    await mounter.mount('tmpfs', memory, 'tmpfs', ['mode=0750']);
  }
}

async function openFolder(path: string, group: number | undefined, mode: number): Promise<void> {
  const stats = await stat(path);
  if (group !== undefined && stats.gid !== group) await chown(path, stats.uid, group);
  const wanted = group === undefined ? mode : mode | 0o2770;
  if ((stats.mode & 0o7777) !== wanted) await chmod(path, wanted);
}

async function usedBytes(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) return 0;
  let total = stats.blocks * 512;
  if (!stats.isDirectory()) return total;
  for (const entry of await readdir(path, {withFileTypes: true}).catch(() => []))
    if (!entry.isSymbolicLink()) total += await usedBytes(join(path, entry.name));
  return total;
}
