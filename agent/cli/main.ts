/** `nodeagent [flags]`: from the command line to a running agent, and to its end. */
import {systemClock} from '../../shared/clock.ts';
import {startAgent} from '../agent.ts';
import {readConfigFile} from './config-file.ts';
import {parseArguments} from './flags.ts';
import {help} from './help.ts';
import {collectWhenQuiet} from './idle-memory.ts';
import {openLog} from './log.ts';
import {runOnce} from './run-once.ts';
import {Settings} from './settings.ts';
import {unbuiltLines} from './unbuilt.ts';
import {problemsOf} from './validate.ts';

/** As the reference's programs end when they are told nonsense. */
const misuse = 255;
/** The API that this agent speaks. */
export const version = '1.36.3';

export async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] && !argv[0].startsWith('-')) {
    const code = await (await import('../install/commands.ts')).runCommand(argv);
    if (code !== undefined) {
      process.exitCode = code;
      return;
    }
  }
  const {values, errors, warnings} = parseArguments(argv);
  if (values.get('help') === true) return void process.stdout.write(help());
  const asked = values.get('version');
  if (asked && asked !== 'false')
    return void process.stdout.write(
      asked === 'raw'
        ? `${JSON.stringify({gitVersion: `v${version}`, platform: `${process.platform}/${process.arch}`})}\n`
        : `NodeAgent v${version}\n`,
    );
  let settings: Settings | undefined;
  if (errors.length === 0) {
    try {
      const file = values.get('config');
      settings = new Settings(values, typeof file === 'string' && file ? await readConfigFile(file) : undefined);
      errors.push(...problemsOf(settings));
    } catch (error) {
      errors.push((error as Error).message);
    }
  }
  for (const line of warnings) process.stderr.write(`${line}\n`);
  if (errors.length > 0 || !settings) {
    for (const line of errors) process.stderr.write(`nodeagent: ${line}\n`);
    process.exitCode = misuse;
    return;
  }
  await run(settings);
}

async function run(settings: Settings): Promise<void> {
  const log = openLog({
    format: settings.text('logging-format') as 'text' | 'json',
    verbosity: settings.number('v'),
    headers: !settings.bool('skip-headers'),
  });
  for (const line of unbuiltLines(settings)) log.warn(line);
  if (settings.text('container-runtime') !== 'remote') {
    log.error('--container-runtime=builtin is not part of this version: use --container-runtime=remote with --container-runtime-endpoint');
    process.exitCode = misuse;
    return;
  }
  // A pod that trips over a fault of ours must not take the others' agent along.
  process.on('unhandledRejection', (error) => log.error('a failure that nobody expected', error));
  try {
    const agent = await startAgent({settings, log, clock: systemClock, version});
    // What waits for a time does not hold a process by itself.
    setInterval(() => {}, 0x7fffffff);
    if (settings.bool('runonce')) {
      const code = await runOnce({...agent, clock: systemClock, say: (line) => void process.stdout.write(`${line}\n`)});
      await agent.stop();
      process.exit(code);
    }
    collectWhenQuiet();
    const stop = (signal: string) => {
      log.info(`${signal}: the agent ends, its pods stay`);
      void agent.stop().finally(() => process.exit(0));
    };
    process.once('SIGTERM', () => stop('SIGTERM'));
    process.once('SIGINT', () => stop('SIGINT'));
    // Started with a channel to its parent: without that one nobody would end it.
    process.once('disconnect', () => stop('its parent is gone'));
  } catch (error) {
    log.error('cannot start', error);
    // What was started so far would keep it up.
    process.exit(misuse);
  }
}
