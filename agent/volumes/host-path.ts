/** A path of the host, made or checked as its type says. */

import type {Stats} from 'node:fs';
import {chmod, lstat, mkdir, open, stat} from 'node:fs/promises';

type Check = (stats: Stats) => boolean;

const checks: Readonly<Record<string, [check: Check, words: string]>> = {
  Directory: [(stats) => stats.isDirectory(), 'a directory'],
  File: [(stats) => stats.isFile(), 'a file'],
  Socket: [(stats) => stats.isSocket(), 'a socket file'],
  CharDevice: [(stats) => stats.isCharacterDevice(), 'a character device'],
  BlockDevice: [(stats) => stats.isBlockDevice(), 'a block device'],
};

/** @throws Error in the reference's words */
export async function prepareHostPath({path, type = ''}: {path: string; type?: string}): Promise<void> {
  if (path.split('/').includes('..')) throw new Error(`hostPath must not contain '..': ${path}`);
  if (type === '') return;
  if (type === 'DirectoryOrCreate' && !(await exists(path))) {
    await mkdir(path, {recursive: true, mode: 0o755});
    await chmod(path, 0o755);
  }
  // Its folder is not made: a file somewhere new is more likely a mistake.
  if (type === 'FileOrCreate' && !(await exists(path))) {
    const file = await open(path, 'wx', 0o644);
    await file.chmod(0o644);
    await file.close();
  }
  const [check, words] = checks[type.replace('OrCreate', '')] ?? [];
  if (!check) throw new Error(`hostPath type ${JSON.stringify(type)} is unknown`);
  const found = await stat(path).catch(() => undefined);
  if (!found || !check(found)) throw new Error(`hostPath type check failed: ${path} is not ${words}`);
}

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => undefined)) !== undefined;
