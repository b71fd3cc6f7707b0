/**
 * --lock-file: one agent at a time holds it, the next one waits. --exit-on-lock-contention: who holds it goes when another wants it. The lock
 * is of the open file, so it ends with the process, however that ends.
 */
import {spawn} from 'node:child_process';
import {type FileHandle, open, readFile, stat} from 'node:fs/promises';
import type {Clock} from '../../shared/clock.ts';

export interface LockOptions {
  file: string;
  clock: Clock;
  /** Once, when another wants the lock, or the file is gone. */
  onContention?(why: string): void;
}

const lookMs = 1_000;

/** Resolves when the lock is held; the returned function lets it go. @throws Error when the file cannot be opened or locked */
export async function takeLock({file, clock, onContention}: LockOptions): Promise<() => Promise<void>> {
  const handle = await open(file, 'a', 0o600);
  try {
    await flock(handle);
  } catch (error) {
    await handle.close();
    throw new Error(`cannot lock --lock-file ${file}: ${(error as Error).message}`);
  }
  let cancel = (): void => {};
  const {ino} = await handle.stat();
  const look = async (): Promise<void> => {
    const why = (await isWanted(ino))
      ? `another process wants the lock ${file}`
      : (await isSame(file, ino))
        ? undefined
        : `${file} is gone`;
    if (why) onContention?.(why);
    else cancel = clock.after(lookMs, () => void look());
  };
  if (onContention) cancel = clock.after(lookMs, () => void look());
  return async () => {
    cancel();
    await handle.close();
  };
}

/** By the system's own program, on our open file: the lock stays when the program is done. */
function flock(handle: FileHandle): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['--exclusive', '3'], {stdio: ['ignore', 'ignore', 'pipe', handle.fd]});
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(said.trim() || `flock ended with ${code}`))));
  });
}

/** Whether somebody waits for a lock of this file. */
async function isWanted(inode: number): Promise<boolean> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  return locks.split('\n').some((line) => line.includes('-> FLOCK') && line.includes(`:${inode} `));
}

const isSame = (file: string, inode: number): Promise<boolean> =>
  stat(file).then(
    ({ino}) => ino === inode,
    () => false,
  );
