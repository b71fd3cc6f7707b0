/** fsGroup: files of the volume belong to the group, which may use them as their owner may; new files inherit it. */
import {chmod, lchown, lstat, readdir} from 'node:fs/promises';
import {join} from 'node:path';

const groupOfFiles = 0o660;
const groupOfFolders = 0o110 | 0o2000;

/** With `onRootMismatch` a volume whose root is right is taken to be right below. */
export async function giveToGroup(folder: string, group: number, onRootMismatch = false): Promise<void> {
  const root = await lstat(folder);
  if (onRootMismatch && root.gid === group && (root.mode & 0o2070) === 0o2070) return;
  await walk(folder, group);
}

async function walk(path: string, group: number): Promise<void> {
  const stats = await lstat(path);
  if (stats.gid !== group) await lchown(path, stats.uid, group);
  if (stats.isSymbolicLink()) return;
  const wanted = stats.mode | groupOfFiles | (stats.isDirectory() ? groupOfFolders : 0);
  if (wanted !== stats.mode) await chmod(path, wanted & 0o7777);
  if (stats.isDirectory()) for (const entry of await readdir(path)) await walk(join(path, entry), group);
}
