/** What `nodeagent` does besides running: words in front of its flags. Each is loaded when it is asked for. */
import {readConfigFile} from '../cli/config-file.ts';
import {parseArguments} from '../cli/flags.ts';
import {Settings} from '../cli/settings.ts';

export type Command = (argv: readonly string[]) => Promise<number>;

/** By name; each takes what follows it and answers with the exit code. */
export const commands: ReadonlyMap<string, {load(): Promise<Command>}> = new Map([
  ['check', {load: async () => (await import('./check.ts')).check}],
  ['install', {load: async () => (await import('./service.ts')).install}],
  ['uninstall', {load: async () => (await import('./service.ts')).uninstall}],
  ['cleanup', {load: async () => (await import('./cleanup.ts')).cleanup}],
]);

/** Wrong use, and what could not be done. */
export class CommandError extends Error {}

/** Runs the command that `argv` begins with; undefined: it begins with none. */
export async function runCommand(argv: readonly string[]): Promise<number | undefined> {
  const found = commands.get(argv[0] ?? '');
  if (!found) return undefined;
  try {
    return await (await found.load())(argv.slice(1));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`nodeagent ${argv[0]}: ${error.message}\n`);
    return 1;
  }
}

/** Takes a command's own flags out, `--name` or `--name=value`. */
export function takeOwn(argv: readonly string[], names: readonly string[]): {own: Map<string, string>; rest: string[]} {
  const own = new Map<string, string>();
  const rest: string[] = [];
  for (const argument of argv) {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (names.includes(name)) own.set(name, value ?? '');
    else rest.push(argument);
  }
  return {own, rest};
}

/** The agent's settings by its flags. @throws CommandError with everything that is wrong with them */
export async function settingsOf(argv: readonly string[]): Promise<Settings> {
  const {values, errors} = parseArguments(argv);
  if (errors.length > 0) throw new CommandError(errors.join('; '));
  const file = values.get('config');
  try {
    return new Settings(values, typeof file === 'string' && file ? await readConfigFile(file) : undefined);
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}
