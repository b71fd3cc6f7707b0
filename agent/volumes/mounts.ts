/** What Node cannot do itself: mount and unmount, by the system's own commands. A seam, so that everything above runs without rights. */
import {execFile} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {promisify} from 'node:util';

export interface Mounter {
  mount(source: string, target: string, type: string, options: readonly string[]): Promise<void>;
  /** `source` is taken as it is, links and all: /proc/self/fd/N stays what was opened. */
  bind(source: string, target: string, readOnly: boolean): Promise<void>;
  unmount(target: string): Promise<void>;
  /** Mount points at or below `folder`, deepest first. */
  below(folder: string): Promise<string[]>;
}

const run = promisify(execFile);
/** An NFS server that does not answer must not hold a pod's worker for ever. */
const timeout = 120_000;

export const systemMounter: Mounter = {
  async mount(source, target, type, options) {
    await run('mount', ['-t', type, ...(options.length > 0 ? ['-o', options.join(',')] : []), '--', source, target], {timeout}).catch(
      explain,
    );
  },
  async bind(source, target, readOnly) {
    await run('mount', ['--no-canonicalize', '--bind', '--', source, target], {timeout}).catch(explain);
    if (readOnly) await run('mount', ['--no-canonicalize', '-o', 'remount,bind,ro', target], {timeout}).catch(explain);
  },
  async unmount(target) {
    await run('umount', ['--no-canonicalize', target], {timeout}).catch(async (error) => {
      if (!(await this.below(target)).includes(target)) return;
      // Held by someone: it goes when they do.
      await run('umount', ['--no-canonicalize', '--lazy', target], {timeout}).catch(() => explain(error));
    });
  },
  async below(folder) {
    const table = await readFile('/proc/self/mounts', 'utf8');
    const points = table.split('\n').map((line) => unescapeOctal(line.split(' ')[1] ?? ''));
    return points.filter((point) => point === folder || point.startsWith(`${folder}/`)).sort((a, b) => b.length - a.length);
  },
};

const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

function explain(error: Error & {stderr?: string}): never {
  throw new Error(`mount failed: ${error.stderr?.trim() || error.message}`, {cause: error});
}
