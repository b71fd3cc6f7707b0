/** Whether what was built is older than what it was built from. */
import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';

export function hasNewer(path, time) {
  const stats = statSync(path, {throwIfNoEntry: false});
  if (!stats) return false;
  if (!stats.isDirectory()) return stats.mtimeMs > time;
  // A folder's own time tells of files that came or went.
  return stats.mtimeMs > time || readdirSync(path).some((name) => !name.endsWith('.test.ts') && hasNewer(join(path, name), time));
}
