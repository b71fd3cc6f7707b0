/** What a container leaves to be read after its end: a file of its own, or the end of its log when it failed. */
import {open, stat} from 'node:fs/promises';

const maxFileBytes = 4096;
const maxLogBytes = 2048;
const maxLogLines = 80;
/** Enough of a log for that many lines with their time stamps. */
const tailBytes = 16 * 1024;

export async function terminationMessage(file: string, policy: string, exitCode: number, logFile: string): Promise<string> {
  const own = await endOf(file, maxFileBytes).catch(() => '');
  if (own !== '' || policy !== 'FallbackToLogsOnError' || exitCode === 0) return own;
  const log = await endOf(logFile, tailBytes).catch(() => '');
  return log
    .split('\n')
    .map(contentOf)
    .join('')
    .split(/(?<=\n)/)
    .slice(-maxLogLines)
    .join('')
    .slice(-maxLogBytes);
}

/** `time stream tag text`: P is a part of a line. */
function contentOf(line: string): string {
  const match = /^\S+ (?:stdout|stderr) ([FP]\S*) (.*)$/.exec(line);
  if (!match) return '';
  return match[1]!.startsWith('P') ? match[2]! : `${match[2]!}\n`;
}

async function endOf(path: string, bytes: number): Promise<string> {
  // Most containers leave nothing: then one look at it is enough.
  if ((await stat(path)).size === 0) return '';
  const file = await open(path);
  try {
    const {size} = await file.stat();
    const length = Math.min(size, bytes);
    const {buffer} = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString();
  } finally {
    await file.close();
  }
}
