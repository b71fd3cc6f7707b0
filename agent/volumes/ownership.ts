/**
 * fsGroup: files of the volume belong to the group, which may use them as their owner may; new files inherit it. A container may be at work in
 * the volume meanwhile: each step is opened from the last without following links, and what was opened is what is changed.
 */
import {constants} from 'node:fs';
import {chmod, chown, type FileHandle, lchown, lstat, open, readdir} from 'node:fs/promises';

const groupOfFiles = 0o660;
const groupOfFolders = 0o110 | 0o2000;
/** Opens what is there without reading it: a pipe does not hold it up, a link is opened itself. */
const pathOnly = 0x200000;

/** With `onRootMismatch` a volume whose root is right is taken to be right below. */
export async function giveToGroup(folder: string, group: number, onRootMismatch = false): Promise<void> {
  const root = await lstat(folder);
  if (onRootMismatch && root.gid === group && (root.mode & 0o2070) === 0o2070) return;
  await walk(folder, group);
}

const inside = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

async function walk(path: string, group: number): Promise<void> {
  // Gone since it was listed.
  const handle = await open(path, pathOnly | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (!handle) return;
  try {
    const stats = await handle.stat();
    if (stats.isSymbolicLink()) {
      // By its name, in a folder that is held: the link itself is changed, wherever it leads.
      if (stats.gid !== group) await lchown(path, stats.uid, group);
      return;
    }
    // Not by its name: that may be another's by now.
    if (stats.gid !== group) await chown(inside(handle), stats.uid, group);
    const wanted = stats.mode | groupOfFiles | (stats.isDirectory() ? groupOfFolders : 0);
    if (wanted !== stats.mode) await chmod(inside(handle), wanted & 0o7777);
    if (stats.isDirectory()) for (const entry of await readdir(inside(handle))) await walk(`${inside(handle)}/${entry}`, group);
  } finally {
    await handle.close();
  }
}
