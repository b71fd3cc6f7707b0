/** What the agent asks of the system for its own process: --oom-score-adj, --max-open-files; and what it asks of the machine: --fail-swap-on. */
import {execFile} from 'node:child_process';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import type {Log} from '../pods/context.ts';
import type {Settings} from './settings.ts';

export interface ProcessOptions {
  settings: Settings;
  log: Log;
  /** Another than /proc, in tests. */
  proc?: string;
  /** Sets both limits of open files of a process. */
  setOpenFiles?(pid: number, files: number): Promise<void>;
}

/** What the machine refuses is said; the agent works without. */
export async function settle({settings, log, proc = '/proc', setOpenFiles = prlimit}: ProcessOptions): Promise<void> {
  // Nobody asked for what is only a default.
  const say = (flag: string, text: string) => (settings.isGiven(flag) ? log.warn : log.debug)(`--${flag}: ${text}`);
  const score = settings.number('oom-score-adj');
  await writeFile(join(proc, 'self/oom_score_adj'), String(score)).catch((error: NodeJS.ErrnoException) =>
    say('oom-score-adj', `${score} cannot be set: ${error.code}`),
  );
  const files = settings.number('max-open-files');
  const before = await openFiles(proc);
  if (before && before.soft === files && before.hard === files) return;
  try {
    await setOpenFiles(process.pid, files);
  } catch {
    say('max-open-files', `${files} cannot be set${before ? `, it stays at ${before.soft}` : ''}`);
  }
}

async function openFiles(proc: string): Promise<{soft: number; hard: number} | undefined> {
  const limits = await readFile(join(proc, 'self/limits'), 'utf8').catch(() => '');
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  return soft && hard ? {soft: Number(soft), hard: Number(hard)} : undefined;
}

/** By the system's own program: Node has no call for it. A higher one than the hard limit needs rights. */
async function prlimit(pid: number, files: number): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(pid), `--nofile=${files}:${files}`]);
}

/** Names of what memory is swapped to; none: the machine does not swap. */
export async function swapsOf(proc = '/proc'): Promise<string[]> {
  const table = await readFile(join(proc, 'swaps'), 'utf8').catch(() => '');
  return table
    .split('\n')
    .slice(1)
    .filter(Boolean)
    .map((line) => line.split(/\s/)[0]!);
}

/** @throws Error where there is swap and --fail-swap-on */
export async function checkSwap({settings, log, proc}: ProcessOptions): Promise<void> {
  const swaps = await swapsOf(proc);
  if (swaps.length === 0) return;
  if (settings.bool('fail-swap-on'))
    throw new Error(`running with swap on is not supported, please disable swap (${swaps.join(', ')}) or set --fail-swap-on flag to false`);
  log.warn(`swap is on (${swaps.join(', ')}): limits of memory hold less than they say`);
}
