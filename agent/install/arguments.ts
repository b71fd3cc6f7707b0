/** What the commands are told: flags of their own, and those of the agent that they are about. */
import {readConfigFile} from '../cli/config-file.ts';
import {parseArguments} from '../cli/flags.ts';
import {Settings} from '../cli/settings.ts';

/** Wrong use, and what could not be done. */
export class CommandError extends Error {}

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
