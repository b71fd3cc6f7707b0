/** What `nodeagent` does besides running: words in front of its flags. Each is loaded when it is asked for. */
import {CommandError} from './arguments.ts';

export type Command = (argv: readonly string[]) => Promise<number>;

/** By name; each takes what follows it and answers with the exit code. */
export const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['check', async () => (await import('./check.ts')).check],
  ['install', async () => (await import('./service.ts')).install],
  ['uninstall', async () => (await import('./service.ts')).uninstall],
  ['cleanup', async () => (await import('./cleanup.ts')).cleanup],
]);

/** Runs the command that `argv` begins with; undefined: it begins with none. */
export async function runCommand(argv: readonly string[]): Promise<number | undefined> {
  const found = commands.get(argv[0] ?? '');
  if (!found) return undefined;
  try {
    return await (await found())(argv.slice(1));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`nodeagent ${argv[0]}: ${error.message}\n`);
    return 1;
  }
}
