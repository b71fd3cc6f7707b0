/** What a program says of itself: the comment at the head of its file, for --help and for flags that it does not know. */
import {readFileSync} from 'node:fs';

const headOf = (file) =>
  /^\/\*\*([\s\S]*?)\*\//
    .exec(readFileSync(file, 'utf8'))[1]
    .split('\n')
    .map((line) => line.replace(/^ ?\* ?/, '').trimEnd())
    .join('\n')
    .trim();

/** Runs a program whose flags node:util's parseArgs reads. */
export async function withUsage(file, args, run) {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${headOf(file)}\n`);
    return;
  }
  try {
    await run();
  } catch (error) {
    if (!/^ERR_PARSE_ARGS_/.test(error?.code ?? '')) throw error;
    process.stderr.write(`${error.message}\n\n${headOf(file)}\n`);
    process.exitCode = 2;
  }
}
