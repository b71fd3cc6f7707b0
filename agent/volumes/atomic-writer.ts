/**
 * A folder whose files change together: each generation is written beside the last, then one rename of the link `..data` shows it. What the
 * pod sees of a path is always one generation, whole.
 */
import {chmod, chown, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';

export interface PayloadFile {
  data: Uint8Array;
  /** Permission bits. */
  mode: number;
  /** Who owns it, where not root. */
  uid?: number;
}

/** By path in the volume. */
export type Payload = ReadonlyMap<string, PayloadFile>;

const dataLink = '..data';
const nextLink = '..data_tmp';

/** `name` or `a/b`: relative, and nothing that leads out. @throws Error */
export function checkPath(path: string): void {
  if (path === '' || path.startsWith('/')) throw new Error(`invalid path: must be relative path: ${path}`);
  if (path.length > 4096) throw new Error('invalid path: must be less than or equal to 4096 characters');
  for (const part of path.split('/')) {
    if (part === '..') throw new Error(`invalid path: must not contain '..': ${path}`);
    if (part === '' || part === '.') throw new Error(`invalid path: ${path}`);
    if (part.length > 255) throw new Error('invalid path: filenames must be less than or equal to 255 characters');
    if (part.includes('\0')) throw new Error('invalid path: contains a zero byte');
  }
  if (path.split('/')[0]!.startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`);
}

/** Whether anything changed. `group` is the pod's own, for every file. */
export async function writeAtomically(folder: string, payload: Payload, group?: number): Promise<boolean> {
  for (const path of payload.keys()) checkPath(path);
  const current = await readlink(join(folder, dataLink)).catch(() => undefined);
  if (current !== undefined && (await isSame(join(folder, current), payload))) return false;

  const generation = `..${new Date().toISOString().replace(/[-:T]/g, '_').replace(/\..*/, '')}.${Math.floor(Math.random() * 1e9)}`;
  const fresh = join(folder, generation);
  try {
    await writeGeneration(fresh, payload, group);
  } catch (error) {
    // It is tried again and again: what cannot be written whole leaves nothing.
    await rm(fresh, {recursive: true, force: true});
    throw error;
  }
  await rm(join(folder, nextLink), {force: true});
  await symlink(generation, join(folder, nextLink));
  await rename(join(folder, nextLink), join(folder, dataLink));
  await showEntries(folder, payload);
  for (const entry of await readdir(folder))
    if (entry.startsWith('..') && entry !== dataLink && entry !== generation) await rm(join(folder, entry), {recursive: true, force: true});
  return true;
}

async function writeGeneration(fresh: string, payload: Payload, group: number | undefined): Promise<void> {
  await mkdir(fresh, {mode: 0o755});
  await chmod(fresh, 0o755);
  if (group !== undefined) await chown(fresh, 0, group);
  for (const [path, {data, mode, uid}] of payload) {
    const file = join(fresh, path);
    await mkdir(dirname(file), {recursive: true, mode: 0o755});
    await writeFile(file, data, {mode, flag: 'wx'});
    // Not what the process's mask leaves of it.
    await chmod(file, group === undefined ? mode : mode | groupBits(mode));
    if (group !== undefined || uid !== undefined) await chown(file, uid ?? 0, group ?? 0);
  }
}

/** With a group of the pod's own, its members may read what the owner may. */
const groupBits = (mode: number): number => (mode & 0o400 ? 0o040 : 0);

async function showEntries(folder: string, payload: Payload): Promise<void> {
  const wanted = new Set([...payload.keys()].map((path) => path.split('/')[0]!));
  for (const entry of await readdir(folder))
    if (!entry.startsWith('..') && !wanted.has(entry)) await rm(join(folder, entry), {force: true, recursive: true});
  for (const entry of wanted) {
    const link = join(folder, entry);
    if ((await lstat(link).catch(() => undefined)) === undefined) await symlink(join(dataLink, entry), link);
  }
}

async function isSame(folder: string, payload: Payload): Promise<boolean> {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true}).catch(() => []);
  if (entries.filter((entry) => entry.isFile()).length !== payload.size) return false;
  for (const [path, {data}] of payload) {
    const present = await readFile(join(folder, path)).catch(() => undefined);
    if (!present?.equals(data)) return false;
  }
  return true;
}
