/**
 * A part of a volume, mounted where no link can lead out of the volume: not one that stands there, and not one that a container puts there
 * between the look and the mount. Each step is opened from the last without following links, and what was opened is what is mounted.
 */
import {constants} from 'node:fs';
import {type FileHandle, lstat, mkdir, open, readlink, realpath, rm, writeFile} from 'node:fs/promises';
import {dirname, join, relative} from 'node:path';
import type {Mounter} from './mounts.ts';

/** Opens a path without reading it, and without waiting for who holds the other end of a pipe. */
const pathOnly = 0x200000;

/** Where the part can be mounted from: `target`, now a mount point. @throws Error when the part is outside, or cannot be made */
export async function mountSubpath(mounter: Mounter, volume: string, part: string, target: string, readOnly: boolean): Promise<string> {
  if (part.startsWith('/') || part.split('/').includes('..'))
    throw new Error(`subPath ${JSON.stringify(part)} must be a relative path without '..'`);
  const root = await realpath(volume);
  const steps = (await stepsWithin(root, part)).filter(Boolean);
  const handle = await openWithin(root, steps);
  try {
    const isFolder = (await handle.stat()).isDirectory();
    await makeTarget(mounter, target, isFolder);
    await mounter.bind(`/proc/${process.pid}/fd/${handle.fd}`, target, readOnly);
    return target;
  } finally {
    await handle.close();
  }
}

/** The volume's own links are followed once, here; the walk that opens follows none. */
async function stepsWithin(root: string, part: string): Promise<string[]> {
  const whole = join(root, part);
  let known = whole;
  let rest = '';
  // What is not there yet cannot be resolved: the part of it that is there can.
  for (;;) {
    const found = await realpath(known).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      if (await isDangling(known)) throw new Error(`subPath ${JSON.stringify(part)} is a link to nowhere`);
      return undefined;
    });
    if (found !== undefined) {
      const inside = relative(root, found);
      if (inside === '..' || inside.startsWith('../') || inside.startsWith('/'))
        throw new Error(`subPath ${JSON.stringify(part)} is outside of the volume`);
      return join(inside, rest)
        .split('/')
        .filter((step) => step !== '.');
    }
    rest = join(known.slice(dirname(known).length + 1), rest);
    known = dirname(known);
    if (!known.startsWith(root)) throw new Error(`the volume ${root} does not exist`);
  }
}

const isDangling = async (path: string): Promise<boolean> => (await readlink(path).catch(() => undefined)) !== undefined;

/** What is missing on the way is made, as open as the volume itself. */
async function openWithin(root: string, steps: readonly string[]): Promise<FileHandle> {
  let handle = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
  const mode = (await handle.stat()).mode & 0o777;
  try {
    for (const step of steps) {
      const path = `/proc/self/fd/${handle.fd}/${step}`;
      const next = await openStep(path, mode);
      await handle.close();
      handle = next;
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openStep(path: string, mode: number): Promise<FileHandle> {
  const flags = pathOnly | constants.O_NOFOLLOW;
  const handle = await open(path, flags).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await mkdir(path, {mode});
    // Not what the process's mask leaves of it; and not by its name, which may be a link by now.
    const made = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    await made.chmod(mode).finally(() => made.close());
    return open(path, flags);
  });
  // With these flags a link itself can be opened.
  if ((await handle.stat()).isSymbolicLink()) {
    await handle.close();
    throw new Error('subPath changed into a link while it was opened');
  }
  return handle;
}

async function makeTarget(mounter: Mounter, target: string, folder: boolean): Promise<void> {
  if ((await mounter.below(target)).includes(target)) await mounter.unmount(target);
  const present = await lstat(target).catch(() => undefined);
  if (present && present.isDirectory() !== folder) await rm(target, {recursive: true});
  await mkdir(folder ? target : dirname(target), {recursive: true, mode: 0o750});
  if (!folder) await writeFile(target, '', {flag: 'a'});
}
