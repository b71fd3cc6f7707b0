/** `nodeagent [flags]`: from the command line to a running agent, and to its end. */
import {systemClock} from '../../shared/clock.ts';
import {startAgent} from '../agent.ts';
import type {Log} from '../pods/context.ts';
import {insecureSuites} from './cipher-suites.ts';
import {readConfigFile} from './config-file.ts';
import {parseArguments} from './flags.ts';
import {help} from './help.ts';
import {collectWhenQuiet} from './idle-memory.ts';
import {takeLock} from './lock.ts';
import {openLog} from './log.ts';
import {type LogSink, openLogSink} from './log-files.ts';
import {checkSwap, settle} from './process.ts';
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
  let sink: LogSink;
  try {
    sink = openLogSink({settings, clock: systemClock});
  } catch (error) {
    process.stderr.write(`nodeagent: cannot open the log: ${(error as Error).message}\n`);
    process.exitCode = misuse;
    return;
  }
  process.on('exit', () => sink.flush());
  const format = settings.text('logging-format') as 'text' | 'json';
  const log = openLog({format, verbosity: settings.number('v'), headers: !settings.bool('skip-headers'), write: sink.write});
  for (const line of unbuiltLines(settings)) log.warn(line);
  if (format === 'json' && settings.differs('skip-headers')) log.warn('--skip-headers is set, but JSON has no headers');
  for (const suite of insecureSuites(settings.list('tls-cipher-suites'))) log.warn(`--tls-cipher-suites: ${suite} is insecure`);
  if (settings.text('container-runtime') !== 'remote') {
    log.error('--container-runtime=builtin is not part of this version: use --container-runtime=remote with --container-runtime-endpoint');
    process.exitCode = misuse;
    return;
  }
  // A pod that trips over a fault of ours must not take the others' agent along.
  if (!settings.bool('really-crash-for-testing'))
    process.on('unhandledRejection', (error) => log.error('a failure that nobody expected', error));
  try {
    await checkSwap({settings, log});
    await lock(settings, log);
    void settle({settings, log});
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

/** Held until the process ends. */
async function lock(settings: Settings, log: Log): Promise<void> {
  const file = settings.text('lock-file');
  if (!file) return;
  const onContention = (why: string) => {
    log.warn(`${why}: the agent ends, its pods stay`);
    process.kill(process.pid, 'SIGTERM');
  };
  log.info(`waits for the lock ${file}`);
  await takeLock({file, clock: systemClock, ...(settings.bool('exit-on-lock-contention') && {onContention})});
}
