/** What processes cost, where the system has /proc. */
import {readFileSync} from 'node:fs';

/** The kernel's unit of /proc/PID/stat; 100 everywhere that matters. */
const ticksPerSecond = 100;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** User and system time so far, all together; undefined where nobody counts it. */
export function cpuSeconds(pids: readonly number[]): number | undefined {
  let ticks = 0;
  for (const pid of pids) {
    const stat = read(`/proc/${pid}/stat`);
    if (!stat) return undefined;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return pids.length > 0 ? ticks / ticksPerSecond : undefined;
}

export function residentMiB(pids: readonly number[]): number | undefined {
  let kib = 0;
  for (const pid of pids) {
    const found = /VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '');
    if (!found) return undefined;
    kib += Number(found[1]);
  }
  return pids.length > 0 ? kib / 1024 : undefined;
}
